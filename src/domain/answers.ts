// Schemas of successful answers: the reference follows from them, and tests check answers by them.
import type { TProperties } from 'typebox';
import { Type } from './typebox.ts';
import { WINDOWS } from './window-limits.ts';

/** With these members only. */
const object = <Members extends TProperties>(members: Members, description?: string) =>
  Type.Object(members, { additionalProperties: false, ...(description === undefined ? {} : { description }) });
const moment = (description: string) => Type.String({ format: 'date-time', description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const ulid = (description: string) => Type.String({ pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', description });
const currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' });

export const HealthAnswer = object({ status: Type.Literal('ok', { description: 'Always `ok`.' }) });

export const TranslationAnswer = object({
  detected_source_language: Type.Optional(
    Type.String({
      description: 'The language that the engine detected; the given `source_lang` if it reported none, absent if neither is known.',
    }),
  ),
  text: Type.String({ description: 'The translation.' }),
});

export const TranslateAnswer = object({
  translations: Type.Array(TranslationAnswer, { description: 'One per text, in the order of the texts.' }),
  billed_characters: count(
    'Characters charged for this request: the code points of all texts, less those translated before, if the operator does not charge for them.',
  ),
});

export const LanguageAnswer = object({
  language: Type.String({ description: 'The code.' }),
  name: Type.String({ description: 'The name in English.' }),
  supports_formality: Type.Optional(Type.Boolean({ description: 'Whether `formality` has an effect. Targets only.' })),
});

export const LanguagesAnswer = Type.Array(LanguageAnswer);

/** Limits by minute to month, with what is used of them. */
export const usedLimitList = (whose: string) =>
  Type.Array(
    object({
      per: Type.Enum([...WINDOWS], { type: 'string', description: 'In UTC; a week begins on Monday.' }),
      requests: Type.Optional(count('How many requests it may have.')),
      used_requests: Type.Optional(count('How many it has had.')),
      characters: Type.Optional(count('How many characters it may have.')),
      used_characters: Type.Optional(count('How many it has had, those of requests in progress included.')),
      resets_at: moment('When it ends, and the next one begins with nothing used.'),
    }),
    { description: `What ${whose} may use by minute, hour, day, week and month, and has used. Absent without such limits.` },
  );
const windowUses = (whose: string) => Type.Optional(usedLimitList(whose));

export const KeyUsageAnswer = object({
  display: Type.String({ description: 'The first twelve characters of the key.' }),
  label: Type.String({ description: 'As given when the key was created; may be empty.' }),
  mode: Type.Enum(['live', 'test'], {
    type: 'string',
    description: '`test` keys cost what `live` keys cost, unless the plan has free characters for them.',
  }),
  character_count: count('Characters charged to this key in the period.'),
  request_count: count('Successful translations with this key in the period.'),
  last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'The last authenticated request with this key; null for a key that was never used.',
  }),
  limits: windowUses('this key'),
});

export const DayUsageAnswer = object({
  date: Type.String({ format: 'date', description: 'The day, in UTC.' }),
  character_count: count('Characters charged on this day.'),
  request_count: count('Successful translations on this day.'),
});

export const TestKeysAnswer = object(
  {
    character_count: count('How many of them were used in the period.'),
    character_limit: count('Characters per period that cost nothing, beyond which test keys are refused.'),
  },
  'The free characters of keys with mode `test`. Only if the plan has some.',
);

const usage = {
  team_id: ulid('The team that the key belongs to.'),
  plan: Type.String({ description: "The plan's name." }),
  requests_per_second: count('Requests that may be admitted in any second, over all keys of the team.'),
  period_start: moment('When the period began.'),
  period_end: moment('When the next one begins.'),
  character_count: count('Characters charged in the period, free ones of test keys included.'),
  test_character_count: Type.Optional(count('How many of them were charged to keys of mode `test`.')),
  test_keys: Type.Optional(TestKeysAnswer),
  limits: windowUses('the team'),
  keys: Type.Array(KeyUsageAnswer, { description: 'Every key of the team, revoked and unused ones included.' }),
  days: Type.Optional(Type.Array(DayUsageAnswer, { description: 'The days between `from` and `to` with usage. Only if requested.' })),
};

export const QuotaUsageAnswer = object({
  ...usage,
  billing: Type.Literal('quota', { description: '`quota`: characters are included per period. `credit`: they are paid in advance.' }),
  character_limit: count('Included characters per period. With `quota` only.'),
  overage: object(
    {
      character_count: count('Characters beyond the included ones, without free ones of test keys.'),
      cost_minor: count('Their cost so far, in minor currency units.'),
      cap_minor: count('The cap on overage, in minor currency units; 0 means no overage.'),
      currency,
    },
    'With `quota` only.',
  ),
});

export const CreditUsageAnswer = object({
  ...usage,
  billing: Type.Literal('credit'),
  credit: object({ balance_minor: count('What is left, in minor currency units, rounded down.'), currency }, 'With `credit` only.'),
});

export const UsageAnswer = Type.Union([QuotaUsageAnswer, CreditUsageAnswer]);

export const GlossaryAnswer = object({
  glossary_id: ulid('The id to use as `glossary_id` in a translation request.'),
  name: Type.String({ description: 'As given.' }),
  source_lang: Type.String({ description: 'The source code.' }),
  target_lang: Type.String({ description: 'The target code.' }),
  entry_count: count('Number of terms.'),
  created_at: moment('When it was created.'),
});

export const GlossariesAnswer = object({ glossaries: Type.Array(GlossaryAnswer, { description: 'In order of creation.' }) });

export const GlossaryEntriesAnswer = object({
  entries: Type.Record(Type.String(), Type.String(), { description: 'Terms and their translations.' }),
});
