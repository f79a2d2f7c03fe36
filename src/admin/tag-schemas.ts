// The schemas of the admin API's bodies and answers about tags with limits.
import { KEY_CHARACTERS_MAX, KEY_RATE_MAX } from '../domain/key-limits.ts';
import { usedLimitList } from '../domain/answers.ts';
import { Type } from '../domain/typebox.ts';
import { limit, replicated, windowList } from './admin-schemas.ts';

const whole = Type.Integer({ minimum: 0 });

/** Checked by `judgeTagSettings`, which has better messages; the document says what is valid. */
export const TagSettingsBody = Type.Object(
  {
    disabled: Type.Optional(Type.Boolean({ description: 'Whether requests with the tag are refused. `false` by default.' })),
    requests_per_second: limit(
      Type.Integer({ minimum: 1, maximum: KEY_RATE_MAX }),
      "The rate of all requests with the tag, whichever key they are sent with; checked after the team's and the key's.",
    ),
    characters: limit(
      Type.Integer({ minimum: 1, maximum: KEY_CHARACTERS_MAX }),
      "How many characters requests with the tag may use in each of the team's periods.",
    ),
    limits: limit(windowList, 'What they may use in a minute, an hour, a day, a week or a month.'),
  },
  { additionalProperties: false, description: 'Replaces everything that was set for the tag: what is absent or `null` is no limit.' },
);

/** Limits are absent if the tag has no such limit. */
export const TagAnswer = Type.Object({
  tag: Type.String({ description: 'In lower case.' }),
  disabled: Type.Boolean(),
  requests_per_second: Type.Optional(whole),
  characters: Type.Optional(whole),
  limits: Type.Optional(windowList),
  used: Type.Object(
    {
      characters: Type.Integer({ minimum: 0, description: "In the team's running period, those of requests in progress included." }),
      limits: Type.Optional(usedLimitList('requests with the tag')),
    },
    { description: 'Counted since the tag has settings.' },
  ),
});

export const ChangedTagAnswer = Type.Object({ ...TagAnswer.properties, replicated });
