// The schemas of the admin API's bodies and answers: requests are checked against them, and the OpenAPI document shows them.
import type { TSchema } from 'typebox';
import { TestKeysAnswer } from '../domain/answers.ts';
import { WINDOW_ENTRIES_MAX, WINDOW_NUMBER_MAX } from '../domain/given-windows.ts';
import { WINDOWS } from '../domain/window-limits.ts';
import { MINOR_MAX } from '../domain/money.ts';
import { OPTIONAL_NUMBERS, REQUIRED_NUMBERS } from '../domain/plan.ts';
import { REASON_CHARACTERS_MAX, RECORD_NAME_CHARACTERS_MAX, REFERENCE_CHARACTERS_MAX } from '../domain/record-name.ts';
import { Type } from '../domain/typebox.ts';
import { replicated } from './operation-http.ts';
import { PLAN_TIMES } from './team-terms.ts';

const closed = { additionalProperties: false } as const;
const name = (description: string) => Type.String({ minLength: 1, maxLength: RECORD_NAME_CHARACTERS_MAX, description });
const reference = (description: string) => Type.String({ minLength: 1, maxLength: REFERENCE_CHARACTERS_MAX, description });
const minor = (minimum: number, description: string) => Type.Integer({ minimum, maximum: MINOR_MAX, description });

const planTime = (description: string) =>
  Type.Enum([...PLAN_TIMES], {
    type: 'string',
    description: `\`now\` (the default) or \`next-period\`: when the current period ends. ${description}`,
  });

const confirm = Type.Optional(
  Type.Boolean({
    description:
      'Required as `true` for a change of plan that takes effect at once and makes a running period dearer; without it that is a `validation_error` with `dearer`, and nothing is changed.',
  }),
);
export const PlanApplyBody = Type.Object({ when: Type.Optional(planTime('`never` takes back what waits.')), confirm }, closed);

export const NewTeamBody = Type.Object(
  {
    name: name("The team's name."),
    reference: Type.Optional(reference('Your own word for the team, for example a customer number. Need not be unique.')),
    plan: Type.String({ description: 'A plan of the configuration; its numbers are copied into the team.' }),
    credit_minor: Type.Optional(minor(0, 'Starting credit in minor units; only with a credit plan.')),
  },
  closed,
);

export const TeamPatchBody = Type.Object(
  {
    name: Type.Optional(name('A new name.')),
    reference: Type.Optional(Type.Union([reference('Your own word for the team.'), Type.Null()], { description: '`null` removes it.' })),
    plan: Type.Optional(Type.String({ description: 'A plan of the configuration; effective at the next request, or as `when` says.' })),
    confirm,
    when: Type.Optional(planTime('With plan. `never`, without plan, takes back the change that waits for the end of the period.')),
    add_credit_minor: Type.Optional(
      minor(
        -MINOR_MAX,
        'Credit to add, in minor units; only with a credit plan. Negative to deduct credit, except what open reservations hold; not 0.',
      ),
    ),
    reason: Type.Optional(Type.String({ maxLength: REASON_CHARACTERS_MAX, description: 'Why, for the audit. Required to deduct credit.' })),
  },
  { ...closed, minProperties: 1 },
);

const windowEntry = Type.Object(
  {
    per: Type.Enum([...WINDOWS], { type: 'string', description: 'In UTC; a week begins on Monday.' }),
    requests: Type.Optional(Type.Integer({ minimum: 1, maximum: WINDOW_NUMBER_MAX })),
    characters: Type.Optional(Type.Integer({ minimum: 1, maximum: WINDOW_NUMBER_MAX })),
  },
  { ...closed, description: 'With one or both numbers.' },
);
const windowList = Type.Array(windowEntry, { minItems: 1, maxItems: WINDOW_ENTRIES_MAX });
const moment = Type.String({ format: 'date-time' });
const whole = Type.Integer({ minimum: 0 });

/** A schema for each of a plan's numbers, under its name in reports. */
function byMember<Member extends string, Row extends { readonly member: Member }, Schema extends TSchema>(
  numbers: Readonly<Record<string, Row>>,
  schemaOf: (row: Row) => Schema,
): Record<Member, Schema> {
  return Object.fromEntries(Object.values(numbers).map((row) => [row.member, schemaOf(row)])) as Record<Member, Schema>;
}

export const TeamAnswer = Type.Object({
  team_id: Type.String({ description: 'A ULID.' }),
  name: Type.String(),
  reference: Type.Optional(Type.String({ description: "The operator's own word for the team. Absent if it has none." })),
  plan: Type.String(),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  ...byMember(REQUIRED_NUMBERS, () => whole),
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
  ...byMember(OPTIONAL_NUMBERS, ({ about }) => Type.Optional(Type.Integer({ minimum: 1, description: about }))),
  limits: Type.Optional(windowList),
  balance_minor: Type.Optional(whole),
  currency: Type.String({ description: 'ISO 4217.' }),
  created_at: moment,
  next_plan: Type.Optional(
    Type.Object(
      { plan: Type.String() },
      {
        additionalProperties: Type.Union([Type.String(), Type.Number()]),
        description: 'The plan that the team gets when its period ends, with its numbers. Absent if none waits.',
      },
    ),
  ),
});
const refused = (what: string) => Type.Integer({ minimum: 0, description: what });
export const ShownTeamAnswer = Type.Object({
  ...TeamAnswer.properties,
  refusals: Type.Object(
    {
      rate_limited: refused('429, by the rate or another limit of a time, of the team, of a key or of a tag.'),
      quota_exceeded: refused("402, by the team's quota, or by the limit of a key or a tag."),
      credit_exhausted: refused('402.'),
    },
    {
      description:
        'How many requests were refused in the running period, by code: the sums of its UTC days, so that the first one counts as a whole. About a second behind.',
    },
  ),
});
const warnings = Type.Optional(
  Type.Array(Type.String(), { description: 'What was done and may not be meant, for example another team that has the same reference.' }),
);
const DearerAnswer = Type.Object({
  teams: Type.Integer({ minimum: 0, description: 'For how many teams.' }),
  minor: Type.Integer({ minimum: 0, description: 'By how many minor units, for what has been used so far.' }),
});
const dearer = 'What became dearer in running periods, because a plan took effect at once.';
export const ChangedTeamAnswer = Type.Object({
  ...TeamAnswer.properties,
  dearer: Type.Optional(Type.Object(DearerAnswer.properties, { description: `${dearer} Absent if nothing.` })),
  replicated,
  warnings,
});
const numberValue = Type.Union([Type.String(), Type.Number(), Type.Null()]);
export const PlanAppliedAnswer = Type.Object({
  plan: Type.String(),
  teams: Type.Integer({ minimum: 0, description: 'Teams on the plan.' }),
  changed: Type.Integer({ minimum: 0, description: 'Those of them whose numbers were changed.' }),
  changes: Type.Array(Type.Object({ number: Type.String(), from: numberValue, to: numberValue, teams: whole }), {
    description: 'Which numbers changed, from what to what, for how many teams; `null` if a billing does not have the number.',
  }),
  dearer: Type.Object(DearerAnswer.properties, { description: dearer }),
  replicated,
});
export const LiveAnswer = Type.Object({
  step_seconds: whole,
  points: Type.Array(
    Type.Object({
      at: moment,
      requests: Type.Record(Type.String(), whole, {
        description: 'By problem code; `ok` for answers, `client_closed` for callers who disconnected.',
      }),
      p50_ms: Type.Union([Type.Number(), Type.Null()]),
      p99_ms: Type.Union([Type.Number(), Type.Null()]),
      characters: whole,
      engine_failures: Type.Integer({ minimum: 0, description: 'Failed attempts at the engine.' }),
      in_flight: Type.Integer({ minimum: 0, description: 'The highest number within the step.' }),
    }),
  ),
});

export const PeriodAnswer = Type.Object({
  period_start: moment,
  period_end: moment,
  closed: Type.Boolean({ description: 'Whether it has ended and has no open reservations: then it never changes.' }),
  plan: Type.String({ description: 'The plan at the end of the period.' }),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  character_count: whole,
  test_character_count: Type.Integer({ minimum: 0, description: 'Of `character_count`: with keys of mode `test`.' }),
  test_keys: Type.Optional(TestKeysAnswer),
  character_limit: Type.Optional(whole),
  overage: Type.Optional(
    Type.Object(
      { character_count: whole, cost_minor: whole, cap_minor: whole, currency: Type.String() },
      { description: 'Only with quota billing, like character_limit; as in GET /v1/usage.' },
    ),
  ),
});
