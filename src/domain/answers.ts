// The shapes of successful answers, as schemas: the API reference is drawn from them and tests hold the answers to them.
import Type from 'typebox';

const closed = { additionalProperties: false } as const;
const moment = (description: string) => Type.String({ format: 'date-time', description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const ulid = (description: string) => Type.String({ pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', description });

export const HealthAnswer = Type.Object({ status: Type.Enum(['ok']) }, closed);

export const TranslateAnswer = Type.Object(
  {
    translations: Type.Array(
      Type.Object(
        {
          detected_source_language: Type.Optional(
            Type.String({ description: 'What the engine took the text to be in, or the given source_lang when it did not say.' }),
          ),
          text: Type.String({ description: 'The translation.' }),
        },
        closed,
      ),
      { description: 'One translation per text, in the order of the texts.' },
    ),
    billed_characters: count('Code points of all texts together: what this request was charged.'),
  },
  closed,
);

export const LanguagesAnswer = Type.Array(
  Type.Object(
    {
      language: Type.String({ description: 'The canonical code.' }),
      name: Type.String({ description: 'The name in English.' }),
      supports_formality: Type.Optional(Type.Boolean({ description: 'Whether formality has an effect. Targets only.' })),
    },
    closed,
  ),
);

const keyUsage = Type.Object(
  {
    display: Type.String({ description: 'The first twelve characters of the key.' }),
    label: Type.String(),
    mode: Type.Enum(['live', 'test']),
    character_count: count('Characters charged to this key in the period.'),
    request_count: count('Successful translations with this key in the period.'),
    last_used_at: Type.Union([moment('The last authenticated request with this key.'), Type.Null()]),
  },
  closed,
);

export const UsageAnswer = Type.Object(
  {
    team_id: ulid('The team that the key belongs to.'),
    plan: Type.String(),
    billing: Type.Enum(['quota', 'credit']),
    requests_per_second: count('Admitted requests in any second, over all keys of the team.'),
    period_start: moment('Belongs to the period.'),
    period_end: moment('Belongs to the next period.'),
    character_count: count('Characters charged in the period.'),
    character_limit: Type.Optional(count('Included characters of a period. Quota billing only.')),
    overage: Type.Optional(
      Type.Object(
        {
          character_count: count('Characters beyond the included ones.'),
          cost_minor: count('What they cost so far, in minor units.'),
          cap_minor: count('Where overage ends, in minor units; 0 is no overage.'),
          currency: Type.String({ description: 'ISO 4217.' }),
        },
        { ...closed, description: 'Quota billing only.' },
      ),
    ),
    credit: Type.Optional(
      Type.Object(
        { balance_minor: count('What is left, in minor units, rounded down.'), currency: Type.String({ description: 'ISO 4217.' }) },
        { ...closed, description: 'Credit billing only.' },
      ),
    ),
    keys: Type.Array(keyUsage, { description: 'Every key of the team, revoked and unused ones included.' }),
  },
  closed,
);

export const GlossaryAnswer = Type.Object(
  {
    glossary_id: ulid('What glossary_id of a translation refers to.'),
    name: Type.String(),
    source_lang: Type.String(),
    target_lang: Type.String(),
    entry_count: count('Number of terms.'),
    created_at: moment('When it was created.'),
  },
  closed,
);

export const GlossariesAnswer = Type.Object({ glossaries: Type.Array(GlossaryAnswer) }, closed);

export const GlossaryEntriesAnswer = Type.Object({ entries: Type.Record(Type.String(), Type.String()) }, closed);
