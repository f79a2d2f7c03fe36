// What the admin API takes and answers, as schemas: requests are checked by them, and the OpenAPI document shows them.
import type { TSchema } from 'typebox';
import { ALLOWED_ADDRESSES_MAX, KEY_CHARACTERS_MAX, KEY_RATE_MAX } from '../domain/key-limits.ts';
import { MINOR_MAX } from '../domain/money.ts';
import { REASON_CHARACTERS_MAX } from '../domain/reason.ts';
import { RECORD_NAME_CHARACTERS_MAX } from '../domain/record-name.ts';
import { Type } from '../domain/schema-type.ts';

const closed = { additionalProperties: false } as const;
const name = (description: string) => Type.String({ minLength: 1, maxLength: RECORD_NAME_CHARACTERS_MAX, description });
const minor = (minimum: number, description: string) => Type.Integer({ minimum, maximum: MINOR_MAX, description });

export const NewTeamBody = Type.Object(
  {
    name: name('What people call the team.'),
    plan: Type.String({ description: 'A plan of the configuration; its numbers are copied into the team.' }),
    credit_minor: Type.Optional(minor(0, 'Starting credit in minor units; only with a credit plan.')),
  },
  closed,
);

export const TeamPatchBody = Type.Object(
  {
    name: Type.Optional(name('A new name.')),
    plan: Type.Optional(Type.String({ description: 'A plan of the configuration; holds from the next request on.' })),
    add_credit_minor: Type.Optional(
      minor(
        -MINOR_MAX,
        'Credit to add, in minor units; only with a credit plan. Negative to take credit, at most what open reservations leave; not 0.',
      ),
    ),
    reason: Type.Optional(
      Type.String({ maxLength: REASON_CHARACTERS_MAX, description: 'Why; kept in the audit. Required for credit that is taken.' }),
    ),
  },
  { ...closed, minProperties: 1 },
);

/** Judged by `judgeLimits`, in whose words they are refused: the document says what is right. */
const limit = (schema: TSchema, description: string) => Type.Optional(Type.Union([schema, Type.Null()], { description }));
const range = Type.String({ description: 'An address or a range in CIDR notation, of IPv4 or IPv6.' });
export const KeyTerms = {
  label: Type.Optional(Type.String({ maxLength: RECORD_NAME_CHARACTERS_MAX, description: 'What the key is for.' })),
  expires_at: limit(
    Type.String({ format: 'date-time' }),
    'From this moment on the key is refused; RFC 3339, not in the past. `null`, as of every limit: none.',
  ),
  requests_per_second: limit(
    Type.Integer({ minimum: 1, maximum: KEY_RATE_MAX }),
    "The key's own rate, judged behind the team's, which it cannot raise.",
  ),
  characters: limit(Type.Integer({ minimum: 1, maximum: KEY_CHARACTERS_MAX }), "What the key may use of the team's period."),
  allowed_addresses: limit(
    Type.Array(range, { minItems: 1, maxItems: ALLOWED_ADDRESSES_MAX }),
    'Where the key may be used from; an address is a range of one.',
  ),
  disabled: Type.Optional(Type.Boolean({ description: 'Whether the key is refused until it is enabled again.' })),
} as const;

export const NewKeyBody = Type.Object(
  { mode: Type.Enum(['live', 'test'], { type: 'string', description: 'Only a label: both modes behave alike.' }), ...KeyTerms },
  closed,
);

export const KeyPatchBody = Type.Object(KeyTerms, { ...closed, minProperties: 1 });

export const replicated = Type.Optional(
  Type.Boolean({
    description:
      'Whether a replica of the store has it. `false`: it holds now, and a failover may undo it. Left out where the store has no replicas, and where nothing was revoked, disabled, limited or paid.',
  }),
);
export const KeySearchBody = Type.Object(
  {
    key: Type.Optional(
      Type.String({ description: 'A whole key: nothing of it is kept, logged or answered beyond its first twelve characters.' }),
    ),
    display: Type.Optional(Type.String({ description: 'The first twelve characters of a key; several keys may share them.' })),
  },
  { ...closed, description: 'One of the two.' },
);

const moment = Type.String({ format: 'date-time' });
const whole = Type.Integer({ minimum: 0 });

export const TeamAnswer = Type.Object({
  team_id: Type.String({ description: 'A ULID.' }),
  name: Type.String(),
  plan: Type.String(),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  requests_per_second: whole,
  max_characters_per_request: whole,
  max_glossaries: whole,
  characters: Type.Optional(whole),
  period: Type.Optional(Type.String({ description: 'An ISO 8601 duration.' })),
  period_anchor: Type.Optional(
    Type.Enum(['calendar'], {
      type: 'string',
      description: "Periods are days, ISO weeks, months or years of UTC, not counted from the team's creation.",
    }),
  ),
  overage_cap_minor: Type.Optional(whole),
  overage_minor_per_million: Type.Optional(whole),
  credit_minor_per_million: Type.Optional(whole),
  balance_minor: Type.Optional(whole),
  currency: Type.String({ description: 'ISO 4217.' }),
  created_at: moment,
});
export const ChangedTeamAnswer = Type.Object({ ...TeamAnswer.properties, replicated });
const status = Type.Enum(['active', 'revoked', 'disabled', 'expired'], {
  type: 'string',
  description: '`disabled` can be enabled, `expired` can be given more time; `revoked` is for ever.',
});
/** Left out where the key has no such limit. */
const LimitAnswers = {
  expires_at: Type.Optional(moment),
  requests_per_second: Type.Optional(whole),
  characters: Type.Optional(whole),
  allowed_addresses: Type.Optional(Type.Array(range)),
} as const;
export const KeyAnswer = Type.Object({
  key_id: Type.String(),
  display: Type.String({ description: "The key's first twelve characters." }),
  label: Type.String(),
  mode: Type.Enum(['live', 'test'], { type: 'string' }),
  status,
  created_at: moment,
  last_used_at: Type.Union([moment, Type.Null()]),
  ...LimitAnswers,
});
export const ChangedKeyAnswer = Type.Object({ team_id: Type.String(), ...KeyAnswer.properties, replicated });
export const FoundKeyAnswer = Type.Object({
  key_id: Type.String(),
  display: Type.String({ description: "The key's first twelve characters." }),
  label: Type.String(),
  mode: Type.Enum(['live', 'test'], { type: 'string' }),
  status,
  team_id: Type.String(),
  team_name: Type.String(),
  last_used_at: Type.Union([moment, Type.Null()]),
  ...LimitAnswers,
});
export const NewKeyAnswer = Type.Object({
  key_id: Type.String(),
  key: Type.String({ description: 'The whole key; shown this once.' }),
  display: Type.String(),
  mode: Type.Enum(['live', 'test'], { type: 'string' }),
  team_id: Type.String(),
  ...LimitAnswers,
  replicated,
});
const DictionaryAnswer = Type.Object({ source_lang: Type.String(), target_lang: Type.String(), entry_count: whole });
export const GlossaryAnswer = Type.Object({
  glossary_id: Type.String(),
  name: Type.String(),
  source_lang: Type.Optional(Type.String({ description: 'Left out, as target_lang, of one that has not exactly one dictionary.' })),
  target_lang: Type.Optional(Type.String()),
  entry_count: Type.Integer({ minimum: 0, description: 'Of all dictionaries.' }),
  created_at: moment,
  dictionaries: Type.Array(DictionaryAnswer),
});
const numberValue = Type.Union([Type.String(), Type.Number(), Type.Null()]);
export const PlanAppliedAnswer = Type.Object({
  plan: Type.String(),
  teams: Type.Integer({ minimum: 0, description: 'Teams on the plan.' }),
  changed: Type.Integer({ minimum: 0, description: 'Those of them that were held to other numbers.' }),
  changes: Type.Array(Type.Object({ number: Type.String(), from: numberValue, to: numberValue, teams: whole }), {
    description: 'Which numbers changed, from what to what, for how many teams; `null` where a billing has no such number.',
  }),
  replicated,
});
const changed = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]));
export const AuditAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      at: moment,
      actor: Type.String({ description: '`cli:USER@HOST`, `admin:NAME@ADDRESS` or `console:NAME@ADDRESS`.' }),
      action: Type.String({ description: "As the admin API's operation is called." }),
      team_id: Type.Union([Type.String(), Type.Null()]),
      key_id: Type.Union([Type.String(), Type.Null()]),
      before: changed,
      after: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
        description: 'Like `before`, only members that changed, and the `reason`.',
      }),
    }),
  ),
  next: Type.Union([Type.String(), Type.Null()]),
});
export const LiveAnswer = Type.Object({
  step_seconds: whole,
  points: Type.Array(
    Type.Object({
      at: moment,
      requests: Type.Record(Type.String(), whole, {
        description: 'By problem code, `ok` for answers, `client_closed` for callers who left.',
      }),
      p50_ms: Type.Union([Type.Number(), Type.Null()]),
      p99_ms: Type.Union([Type.Number(), Type.Null()]),
      characters: whole,
      engine_failures: Type.Integer({ minimum: 0, description: 'Attempts at the engine that gave nothing usable.' }),
      in_flight: Type.Integer({ minimum: 0, description: 'The highest of the step.' }),
    }),
  ),
});

export const UsageRowAnswer = Type.Object({
  team_id: Type.String(),
  name: Type.String(),
  plan: Type.String({ description: "The team's plan now." }),
  date: Type.Union([Type.String(), Type.Null()], { description: 'A day as 2026-11-22, a month as 2026-11, or null with by=total.' }),
  character_count: whole,
  request_count: whole,
  key_id: Type.Optional(Type.String({ description: 'This and what follows: with keys=true only.' })),
  display: Type.Optional(Type.String({ description: "The key's first twelve characters." })),
  label: Type.Optional(Type.String()),
  mode: Type.Optional(Type.Enum(['live', 'test'], { type: 'string' })),
});
export const PeriodAnswer = Type.Object({
  period_start: moment,
  period_end: moment,
  closed: Type.Boolean({ description: 'It has ended and nothing in it is open any more: it never changes again.' }),
  plan: Type.String({ description: 'The plan that held in it at last.' }),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  character_count: whole,
  character_limit: Type.Optional(whole),
  overage: Type.Optional(
    Type.Object(
      { character_count: whole, cost_minor: whole, cap_minor: whole, currency: Type.String() },
      { description: 'With quota billing, as character_limit; as in GET /v1/usage.' },
    ),
  ),
});
