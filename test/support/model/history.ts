// Random histories of store operations, which fast-check generates, shrinks and prints.
import * as fc from 'fast-check';
import type { TagSettings, RequestTag } from '../../../src/domain/request-tag.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { GENEROUS_QUOTA } from '../door/contracts.ts';
import { WINDOWS, writtenWindows } from '../door/terms.ts';
import type { KeyChange } from '../../../src/ports/team-registry.ts';
import type { Verdict } from '../../../src/ports/ledger.ts';

/** Ids, keys and teams are small numbers, so that steps reuse each other's ids and survive shrinking. */
export type Step =
  | Operation
  /** Operations that are sent together, before any of them is answered. */
  | { readonly step: 'turn'; readonly operations: readonly Operation[] }
  | { readonly step: 'wait'; readonly ms: number }
  /** Waits until just before, at, or just after the next moment at which something changes automatically. */
  | { readonly step: 'wait_until'; readonly moment: Moment; readonly offsetMs: number }
  | { readonly step: 'clock_back'; readonly ms: number }
  /** The machine's clock, or the servers', is wrong by this much, until it is right again (0) or nine minutes have passed. */
  | { readonly step: 'wrong_clock'; readonly offByMs: number }
  | { readonly step: 'create_key'; readonly team: number }
  | { readonly step: 'revoke_key'; readonly team: number; readonly key: number }
  /** `expiresInMs` counts from this step. */
  | {
      readonly step: 'change_key';
      readonly team: number;
      readonly key: number;
      readonly change: KeyChange;
      readonly expiresInMs: number | null | undefined;
    }
  /** `null` removes them. */
  | { readonly step: 'set_tag'; readonly team: number; readonly tag: string; readonly settings: TagSettings | null }
  | { readonly step: 'change_plan'; readonly team: number; readonly limits: TeamLimits }
  | { readonly step: 'add_credit'; readonly team: number; readonly micro: number }
  | { readonly step: 'create_glossary'; readonly team: number; readonly pair: number }
  /** Replaces the pair's dictionary with another, or removes it; `isStale` starts from a record that is out of date. */
  | {
      readonly step: 'change_glossary';
      readonly team: number;
      readonly nthLast: number;
      readonly pair: number;
      readonly put: boolean;
      readonly isStale: boolean;
    }
  | { readonly step: 'remove_glossary'; readonly team: number; readonly nthLast: number }
  /** Another team takes its place. */
  | { readonly step: 'delete_team'; readonly team: number; readonly keepUsage: boolean }
  /** Closes the periods that can be, as a report of a team's periods does. */
  | { readonly step: 'close_periods'; readonly team: number }
  /** Compares the balances of both teams. */
  | { readonly step: 'compare' };

/** An operation of the ledger. A commit charges everything, or a part, which may also exceed the reservation. */
export type Operation =
  | {
      readonly step: 'admit';
      readonly id: number;
      readonly key: number;
      readonly characters: number;
      readonly reserve: boolean;
      readonly leaseMs: number;
      readonly glossary: GlossaryUse | undefined;
      readonly reportRate: boolean;
      readonly reportPlan: boolean;
      readonly address: string | undefined;
      readonly scope: string | undefined;
      readonly tag: RequestTag | undefined;
    }
  /** Checks key and rate only, with an id that may be known. */
  | {
      readonly step: 'check';
      readonly id: number;
      readonly key: number;
      readonly address: string | undefined;
      readonly scope: string | undefined;
      readonly tag: RequestTag | undefined;
    }
  | { readonly step: 'resolve'; readonly id: number; readonly verdict: Verdict; readonly part: number | undefined }
  /** Resolves a reservation that was made, perhaps long ago. */
  | { readonly step: 'settle'; readonly nthLast: number; readonly verdict: Verdict; readonly part: number | undefined }
  /** Repeats an earlier admission or resolution unchanged. */
  | { readonly step: 'redeliver'; readonly nthLast: number };

/** How an admission names a glossary: the nth last one of its own team or the other one, and by which pair. */
export interface GlossaryUse {
  readonly foreign: boolean;
  readonly nthLast: number;
  readonly pair: number;
  readonly byBase: boolean;
}

/** `second_edge`: a full second of the clock, at which nothing may change. */
export type Moment = 'lease_end' | 'window_edge' | 'period_end' | 'second_edge' | 'minute_edge' | 'midnight' | 'month_edge';

export interface History {
  readonly startMs: number;
  readonly teams: readonly [FirstNumbers, FirstNumbers];
  /** Whether to compare after every step: reading may itself clean up, so some histories must do without. */
  readonly compareAlways: boolean;
  readonly steps: readonly Step[];
}

/** How many operations the stores run: each operation of a turn counts, waiting and comparing do not. */
export function commandsIn({ steps }: History): number {
  return steps.reduce((sum, one) => {
    if (one.step === 'turn') return sum + one.operations.length;
    return ['wait', 'wait_until', 'clock_back', 'wrong_clock', 'compare'].includes(one.step) ? sum : sum + 1;
  }, 0);
}

interface FirstNumbers {
  readonly limits: TeamLimits;
  readonly balanceMicro: number;
}

export const TEAMS = 2;
/** Even ids belong to the first team, odd ones to the second. */
const IDS = 40;
const FREQUENT_IDS = 6;
/** How many keys a team has at the start. */
export const FIRST_KEYS = 3;
/** The last of these numbers stands for a key of the other team. */
export const KEYS = 5;

/** Source and target languages of glossaries. */
export const PAIRS = [
  ['EN', 'DE'],
  ['EN', 'PT-BR'],
  ['EN', 'PT-PT'],
] as const;

/** Limits by minute to month that histories reach, because most of them take less than a minute and few requests. */
const windows: fc.Arbitrary<string> = fc
  .array(
    fc.record(
      { per: fc.constantFrom(...WINDOWS), requests: fc.integer({ min: 1, max: 12 }), characters: fc.integer({ min: 1, max: 150 }) },
      { requiredKeys: ['per'] },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map(writtenWindows);

const limits: fc.Arbitrary<TeamLimits> = fc
  .record({
    billing: fc.constantFrom('quota', 'quota', 'credit'),
    requestsPerSecond: fc.integer({ min: 1, max: 6 }),
    maxCharactersPerRequest: fc.constantFrom(40, 40, 1000, 1000, 20),
    characterLimit: fc.integer({ min: 0, max: 250 }),
    overageCharacters: fc.constantFrom(0, 0, 1, 15),
    minorPerMillion: fc.constantFrom(0, 1, 2500, 333_333),
    testAllowance: fc.constantFrom(0, 0, 1, 40, 150),
    period: fc.constantFrom('P1M', 'P1M', 'P1M@calendar', 'P1D', 'P1D@calendar', 'P7D@calendar', 'P1W', 'PT2S', 'PT7S', 'P1DT1H', 'P1Y2M'),
    maxGlossaries: fc.integer({ min: 0, max: 3 }),
    windows: fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 1, arbitrary: windows }),
  })
  .map((numbers) => ({ ...GENEROUS_QUOTA, overageCapMinor: 5, ...numbers }));

const team = fc.integer({ min: 0, max: TEAMS - 1 });
/** Few enough to repeat, many enough to be new often. */
const id = fc.oneof(
  fc.integer({ min: 0, max: FREQUENT_IDS - 1 }),
  fc.integer({ min: 0, max: IDS - 1 }),
  fc.integer({ min: 0, max: IDS - 1 }),
);
const key = fc.integer({ min: 0, max: KEYS - 1 });
const verdict = fc.constantFrom('commit' as const, 'commit' as const, 'release' as const);
const part = fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined, freq: 1 });
/** At most about eighty characters at the highest price. */
const micro = fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 26_000_000 }));

const mostly = (often: boolean) => fc.integer({ min: 0, max: 11 }).map((n) => (n === 11 ? !often : often));

const pair = fc.integer({ min: 0, max: PAIRS.length - 1 });
const nthLast = fc.constantFrom(0, 0, 0, 1, 2);
const glossaryUse = fc.record({ foreign: mostly(false), nthLast, pair, byBase: fc.boolean() });

const address = fc.constantFrom(undefined, undefined, '10.1.2.3', '::ffff:10.1.2.3', '2001:db8::1', '');

const scope = fc.constantFrom(undefined, undefined, 'translate:text', 'translate:text', 'forward:a', '');

/** One is always counted with the further ones: how many there are depends on when stores drop those of long ago. */
const tag = fc.constantFrom(
  undefined,
  undefined,
  { name: 'acme', distinctMax: 1000 },
  { name: 'b~!', distinctMax: 1000 },
  { name: 'further', distinctMax: 0 },
);

/** Limits that histories come close to, but which mostly leave room for some requests. */
const keyChange: fc.Arbitrary<KeyChange> = fc.record(
  {
    label: fc.constantFrom('one', 'an"other'),
    disabled: fc.constantFrom(false, false, false, true),
    limits: fc.record(
      {
        requestsPerSecond: fc.constantFrom(null, 1, 2, 3, 5),
        characters: fc.constantFrom(null, 5, 40, 80, 120),
        windows: fc.oneof(
          fc.constant(null),
          windows.map((written) => (written === '' ? null : written)),
        ),
        allowedAddresses: fc.constantFrom(null, null, null, ['10.0.0.0/8'], ['10.1.2.3/32', '2001:db8::/33']),
        scopes: fc.constantFrom(null, null, null, ['translate:text'], ['usage:read', 'forward:a']),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const tagSettings: fc.Arbitrary<TagSettings> = fc
  .record({
    requestsPerSecond: fc.constantFrom(undefined, 1, 2, 3, 5),
    characters: fc.constantFrom(undefined, 5, 40, 80, 120),
    windows: fc.oneof(fc.constant(undefined), windows),
    disabled: fc.constantFrom(false, false, false, true),
  })
  .map(({ requestsPerSecond, characters, windows: written, disabled }) => ({
    disabled,
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
    ...(characters === undefined ? {} : { characters }),
    ...(written === undefined || written === '' ? {} : { windows: written }),
  }));

/** Mostly the first key: a revocation must not make a whole history idle. */
const admitKey = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: key });

const admit = fc.record({
  step: fc.constant('admit' as const),
  id,
  key: admitKey,
  characters: fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 40 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 160 }) },
  ),
  reserve: mostly(true),
  // Leases of more than 15 s, which gateways use, have a path of their own in the Redis ledger.
  leaseMs: fc.constantFrom(1, 500, 1000, 3000, 15_000, 15_001, 60_000, 60_000, 60_000),
  glossary: fc.option(glossaryUse, { nil: undefined, freq: 5 }),
  reportRate: fc.boolean(),
  reportPlan: fc.boolean(),
  address,
  scope,
  tag,
});

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 14, arbitrary: admit },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('check' as const), id, key: admitKey, address, scope, tag }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('resolve' as const), id, verdict, part }) },
  { weight: 7, arbitrary: fc.record({ step: fc.constant('settle' as const), nthLast: fc.integer({ min: 0, max: 5 }), verdict, part }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('redeliver' as const), nthLast: fc.integer({ min: 0, max: 12 }) }) },
);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Steps of at most an hour are followed, which `clock_back` and waiting are for. */
const wrongBy = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(-1, 1), fc.constantFrom(HOUR_MS + 1, DAY_MS, 35 * DAY_MS, 500 * DAY_MS, 3653 * DAY_MS))
      .map(([sign, ms]) => sign * ms),
  },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: operation },
  {
    weight: 6,
    arbitrary: fc.record({ step: fc.constant('turn' as const), operations: fc.array(operation, { minLength: 2, maxLength: 12 }) }),
  },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 100, 333, 1000, 5000) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant('wait_until' as const),
      moment: fc.constantFrom('lease_end', 'window_edge', 'period_end', 'second_edge', 'minute_edge', 'midnight', 'month_edge'),
      offsetMs: fc.constantFrom(-1, 0, 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('clock_back' as const), ms: fc.constantFrom(1, 400, 1500, 3_600_000) }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('wrong_clock' as const), offByMs: wrongBy }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('create_key' as const), team }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('revoke_key' as const), team, key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('change_key' as const),
      team,
      key: admitKey,
      change: keyChange,
      expiresInMs: fc.constantFrom(undefined, undefined, undefined, null, 400, 5000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('set_tag' as const),
      team,
      tag: fc.constantFrom('acme', 'b~!', 'further'),
      settings: fc.option(tagSettings, { nil: null, freq: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('change_plan' as const), team, limits }) },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('add_credit' as const),
      team,
      micro: fc.oneof(
        micro,
        micro.map((taken) => -taken),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('create_glossary' as const), team, pair }) },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant('change_glossary' as const), team, nthLast, pair, put: mostly(true), isStale: mostly(false) }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('remove_glossary' as const), team, nthLast }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('delete_team' as const), team, keepUsage: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('close_periods' as const), team }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('compare' as const) }) },
);

const firstNumbers: fc.Arbitrary<FirstNumbers> = fc
  .record({ limits, balanceMicro: micro })
  .map((numbers) => (numbers.limits.billing === 'quota' ? { ...numbers, balanceMicro: 0 } : numbers));

const busyAdmit = fc.record({
  step: fc.constant('admit' as const),
  id: fc.integer({ min: 0, max: IDS - 1 }),
  key: fc.constant(0),
  characters: fc.constant(1),
  reserve: fc.constant(true),
  leaseMs: fc.constant(60_000),
  glossary: fc.constant(undefined),
  reportRate: fc.boolean(),
  reportPlan: fc.boolean(),
  address: fc.constant(undefined),
  scope: fc.constant(undefined),
  tag: fc.constant(undefined),
});
const busyOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: busyAdmit },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('check' as const),
      id: fc.integer({ min: 0, max: IDS - 1 }),
      key: fc.constant(0),
      address: fc.constant(undefined),
      scope: fc.constant(undefined),
      tag: fc.constant(undefined),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('settle' as const), nthLast, verdict, part }) },
);
const busyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: busyOperation },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('turn' as const), operations: fc.array(busyOperation, { minLength: 2, maxLength: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('wait' as const), ms: fc.constantFrom(1, 7, 40, 150, 400, 990) }) },
);

/** A busy team without trouble: only its rate refuses requests, and time passes in small steps. */
export function busyHistory(stepsMax: number): fc.Arbitrary<History> {
  const busyTeam = fc.record({ requestsPerSecond: fc.integer({ min: 1, max: 4 }) }).map((numbers): FirstNumbers => ({
    limits: { ...GENEROUS_QUOTA, maxCharactersPerRequest: 1000, maxGlossaries: 0, characterLimit: 100_000, overageCapMinor: 5, ...numbers },
    balanceMicro: 0,
  }));
  return fc.record({
    startMs: fc.integer({ min: 0, max: 999 }).map((ms) => Date.UTC(2040, 5, 1, 8, 0, 0, ms)),
    teams: fc.tuple(busyTeam, busyTeam),
    compareAlways: fc.constant(false),
    steps: fc.array(busyStep, { minLength: 1, maxLength: stepsMax, size: 'max' }),
  });
}

export function history(stepsMax: number): fc.Arbitrary<History> {
  return fc.record({
    startMs: fc.constantFrom(
      Date.UTC(2040, 0, 15, 12),
      Date.UTC(2040, 0, 31, 18, 30, 0, 1),
      Date.UTC(2040, 1, 29),
      Date.UTC(2041, 11, 31, 23, 59, 59, 999),
      // In the middle of a second of the clock: slots of the window outlive its edge.
      Date.UTC(2040, 5, 1, 8, 0, 0, 250),
      Date.UTC(2040, 5, 1, 8, 0, 0, 700),
      Date.UTC(2040, 5, 1, 8, 0, 0, 987),
    ),
    teams: fc.tuple(firstNumbers, firstNumbers),
    compareAlways: fc.boolean(),
    steps: fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' }),
  });
}
