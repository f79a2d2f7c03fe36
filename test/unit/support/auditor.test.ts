// The auditor has teeth: it accepts what the reference store answers, and catches each kind of wrong answer by the guarantee it breaks.
import { describe, expect, test } from 'vitest';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { TagSettings } from '../../../src/domain/request-tag.ts';
import type { Admission, Resolution, Verdict } from '../../../src/ports/ledger.ts';
import type { KeyChange } from '../../../src/ports/team-registry.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { GENEROUS_QUOTA } from '../../../src/testing/store/team-under-test.ts';
import { AuditedTeam } from '../../support/auditor/account.ts';
import type { Action } from '../../support/auditor/deeds.ts';
import { judgeEnd } from '../../support/auditor/end.ts';
import type { Shown } from '../../support/auditor/end.ts';
import { unsound } from '../../support/auditor/totals.ts';
import { referenceStore } from '../../support/reference-store.ts';

const TEAM = '01J0000000000000000000TEAM';
const QUOTA: TeamLimits = { ...GENEROUS_QUOTA, requestsPerSecond: 100, maxCharactersPerRequest: 1000, characterLimit: 100 };
const CREDIT: TeamLimits = { ...QUOTA, billing: 'credit', characterLimit: 0, minorPerMillion: 2500 };
const RESERVED = { kind: 'admitted', reservation: undefined } as const;

interface Asking {
  readonly characters?: number;
  readonly key?: string;
  readonly tag?: string;
  readonly scope?: string;
  readonly address?: string;
  readonly leaseMs?: number;
}

/** A team in the reference store, and the auditor, who is told each answer: as it is, or as a lie changes it. */
class Story {
  readonly violations: string[] = [];
  readonly #clock = new MovableClock();
  readonly #startMs = this.#clock.nowMs();
  readonly #store = referenceStore(this.#clock);
  readonly #auditor = new AuditedTeam({
    clockChangedAtMs: () => -Infinity,
    isAddressIn: (ranges, address) => ranges.includes(`${address}/32`),
  });
  readonly #isHonest: boolean;
  #asked = 0;

  /** An honest one leaves out every lie. */
  constructor(isHonest = false) {
    this.#isHonest = isHonest;
  }

  async team(limits: TeamLimits, balanceMicro = 0): Promise<this> {
    answered(await this.#store.teams.createTeam({ teamId: TEAM, name: 'A', plan: 'a', limits, balanceMicro }));
    this.#tell({ kind: 'team', limits, addMicro: balanceMicro });
    return this.key('key');
  }

  async key(keyId: string, limits: KeyLimits = {}, mode: KeyMode = 'live'): Promise<this> {
    answered(await this.#store.teams.createKey({ keyId, teamId: TEAM, digest: keyId, display: keyId, label: '', mode, limits }));
    this.#tell({ kind: 'create_key', keyId, mode, limits });
    return this;
  }

  async changeKey(keyId: string, change: KeyChange): Promise<void> {
    answered(await this.#store.teams.updateKey(keyId, change));
    this.#tell({ kind: 'update_key', keyId, change });
  }

  async revoke(keyId: string): Promise<void> {
    answered(await this.#store.teams.revokeKey(keyId));
    this.#tell({ kind: 'revoke_key', keyId });
  }

  async tag(tag: string, settings: TagSettings): Promise<this> {
    answered(await this.#store.tagSettings.set(TEAM, tag, settings, 10));
    this.#tell({ kind: 'set_tag', tag, settings });
    return this;
  }

  step(ms: number): void {
    this.#clock.step(ms);
  }

  /** Returns the id. */
  async admit(
    { characters = 10, key = 'key', tag, leaseMs = 5000, ...from }: Asking = {},
    lie?: (truth: Admission) => Admission,
  ): Promise<string> {
    const requestId = `request-${++this.#asked}`;
    const named = tag === undefined ? {} : { tag: { name: tag, distinctMax: 5 } };
    const asked = {
      requestId,
      teamId: TEAM,
      keyId: key,
      characters,
      reserve: characters > 0,
      leaseMs,
      glossary: undefined,
      reportRate: true,
    };
    const request = { ...asked, ...named, ...from };
    const truth = await this.#store.ledger.admit(request);
    this.#tell({ kind: 'admit', request, answer: this.#isHonest ? truth : (lie?.(truth) ?? truth) });
    return requestId;
  }

  /** What an admission would have been answered that was refused. */
  admitted(characters: number): Admission {
    const requestId = `request-${this.#asked}`;
    const reservation = { requestId, teamId: TEAM, characters, leaseUntilMs: this.#clock.nowMs() + 5000 };
    return { kind: 'admitted', reservation };
  }

  async settle(requestId: string, verdict: Verdict, characters?: number, lie?: Resolution): Promise<void> {
    const truth = await this.#store.ledger.resolve(TEAM, requestId, verdict, characters);
    this.#tell({ kind: 'resolve', requestId, verdict, characters, answer: this.#isHonest ? truth : (lie ?? truth) });
  }

  /** One lease later. */
  async end(lie: (truth: Shown) => Shown = (truth) => truth): Promise<void> {
    this.step(10_000);
    const { teams, tagSettings, history, tags } = this.#store;
    const range = { from: 0, to: 1_000_000 };
    const shown = {
      standing: answered(await teams.standing(TEAM))!,
      usage: answered(await teams.usage(TEAM))!,
      tags: answered(await tagSettings.list(TEAM))!,
      days: answered(await history.days(TEAM, range))!.days,
      tagDays: answered(await tags.days(TEAM, range)),
      periods: answered(await history.periods(TEAM))!,
      storeMs: this.#clock.nowMs(),
      wasClockRight: true,
    };
    expect(unsound(shown.standing)).toBe(undefined);
    judgeEnd(TEAM, this.#auditor, this.#isHonest ? shown : lie(shown), this.#violate);
  }

  #tell(action: Action): void {
    const storeMs = this.#clock.nowMs();
    this.#auditor.take(action, { atMs: storeMs - this.#startMs, storeMs }, this.#violate);
  }

  readonly #violate = (rule: string, seen: string): void => void this.violations.push(`${rule}: ${seen}`);
}

/** A day in the life of a team: three keys, one tag, refusals of every kind, and everything settled in every way. */
async function fullDay(story: Story): Promise<void> {
  await story.team({ ...QUOTA, requestsPerSecond: 5, testAllowance: 15, windows: 'requests=12/minute characters=60/hour' });
  await story.key('small', { characters: 12, requestsPerSecond: 1 });
  await story.key('test', {}, 'test');
  await story.key('narrow', { scopes: ['usage:read'], allowedAddresses: ['10.1.2.3/32'] });
  await story.tag('shop', { disabled: false, characters: 25, requestsPerSecond: 2 });
  const ids = [await story.admit(), await story.admit({ key: 'small' }), await story.admit({ key: 'small' })];
  ids.push(await story.admit({ key: 'test', characters: 10 }), await story.admit({ tag: 'shop' }), await story.admit());
  await story.settle(ids[0]!, 'commit');
  await story.settle(ids[0]!, 'commit');
  await story.settle(ids[1]!, 'commit', 4);
  await story.settle(ids[3]!, 'release');
  story.step(1000);
  ids.push(
    await story.admit({ key: 'small' }),
    await story.admit({ key: 'test', characters: 16 }),
    await story.admit({ tag: 'shop', characters: 20 }),
  );
  await story.admit({ key: 'narrow', address: '10.1.2.4', scope: 'usage:read' });
  await story.admit({ key: 'narrow', address: '10.1.2.3', scope: 'translate:text' });
  await story.admit({ characters: 70 });
  await story.settle(ids[4]!, 'commit');
  await story.settle('unknown', 'commit');
  for (let n = 0; n < 9; n++) {
    story.step(600);
    await story.admit({ characters: 30 });
  }
  story.step(60_000);
  await story.admit({ characters: 0 });
  await story.revoke('small');
  await story.admit({ key: 'small' });
  await story.changeKey('key', { disabled: true });
  await story.admit();
}

describe('what is right is accepted', () => {
  test('a full day', async () => {
    const story = new Story();
    await fullDay(story);
    await story.end();
    expect(story.violations).toEqual([]);
  });

  test('a team with credit, whose leases end by themselves and whose parts are charged', async () => {
    const story = await new Story().team(CREDIT, 50 * 2500);
    const [one] = [await story.admit({ characters: 30 }), await story.admit({ characters: 30 })];
    await story.settle(one, 'commit', 7);
    const late = await story.admit({ characters: 43, leaseMs: 100 });
    story.step(200);
    await story.settle(late, 'commit');
    await story.admit({ characters: 43 });
    await story.end();
    expect(story.violations).toEqual([]);
  });
});

/** Right but for one answer: an admission, a settlement, or what the store shows at the end. */
interface Wrong {
  /** By default with a quota of 100 characters. */
  readonly team?: TeamLimits;
  readonly balanceMicro?: number;
  /** Another key with these limits, by which all is asked. */
  readonly key?: KeyLimits;
  readonly mode?: KeyMode;
  /** Settings of the tag that all requests then have. */
  readonly tag?: TagSettings;
  readonly before?: (story: Story) => Promise<unknown>;
  /** Answered rightly. */
  readonly first?: readonly Asking[];
  readonly asked?: Asking;
  readonly lie?: (truth: Admission, story: Story) => Admission;
  /** Of the last request, with a part and a lie, so many milliseconds later. */
  readonly settled?: readonly (readonly [verdict: Verdict, characters?: number, lie?: Resolution, afterMs?: number])[];
  readonly end?: (truth: Shown) => Partial<Shown>;
}

async function tell(
  story: Story,
  { team = QUOTA, balanceMicro, key, mode, tag, before, first = [], asked, lie, settled = [], end }: Wrong,
) {
  await story.team(team, balanceMicro);
  if (key !== undefined) await story.key('own', key, mode);
  if (tag !== undefined) await story.tag('shop', tag);
  await before?.(story);
  const own: Asking = { ...(key === undefined ? {} : { key: 'own' }), ...(tag === undefined ? {} : { tag: 'shop' }) };
  for (const one of first) await story.admit({ ...own, ...one });
  const id = await story.admit({ ...own, ...asked }, (truth) => lie?.(truth, story) ?? truth);
  for (const [verdict, characters, answer, afterMs = 0] of settled) {
    story.step(afterMs);
    await story.settle(id, verdict, characters, answer);
  }
  if (end !== undefined) await story.end((truth) => ({ ...truth, ...end(truth) }));
}

const WINDOWED: TeamLimits = { ...QUOTA, characterLimit: 10_000, windows: 'requests=2/minute' };
const DAILY: TeamLimits = { ...WINDOWED, windows: 'characters=20/day' };
const RATED: TeamLimits = { ...QUOTA, requestsPerSecond: 2, characterLimit: 10_000 };
const COMMITTED: Resolution = { kind: 'committed' };
const RELEASED = [['release']] as const;
const COMMIT = [['commit']] as const;
const admits =
  (characters: number) =>
  (_truth: Admission, story: Story): Admission =>
    story.admitted(characters);
const lets = (): Admission => RESERVED;
const limited = (more: object) => (): Admission => ({ kind: 'rate_limited', limit: 2, retryAfterMs: 500, ...more });
const byDay = { limit: 20, window: { per: 'day', counts: 'characters' } };
const exceeded = (): Admission => ({ kind: 'quota_exceeded', characterLimit: 100, overageCapMinor: 0, periodEndMs: 0 });
const more = (truth: Admission): Admission =>
  'windows' in truth ? { ...truth, windows: [{ ...truth.windows![0]!, remaining: 2 }] } : truth;
const keysWith =
  (change: object) =>
  ({ usage }: Shown) => ({ usage: { ...usage, keys: usage.keys.map((key) => ({ ...key, ...change })) } });
const TWO = [{}, {}];

const WRONG: readonly (readonly [what: string, rule: string, wrong: Wrong])[] = [
  ['one request more in a second', 'L6', { team: RATED, first: TWO, lie: admits(10) }],
  ['a refusal in a second with a slot free', 'L6', { team: RATED, first: [{}], lie: limited({}) }],
  ['a refusal by a rate that is nobody’s', 'L6', { team: RATED, first: TWO, lie: (truth) => ({ ...truth, limit: 3 }) as Admission }],
  ['a key’s own rate overlooked', 'L6', { key: { requestsPerSecond: 1 }, first: [{}], lie: admits(10) }],
  ['a window that admits beyond', 'L11', { team: WINDOWED, first: TWO, lie: admits(10) }],
  [
    'a window that refuses what fits',
    'L11',
    { team: WINDOWED, first: [{}], lie: limited({ window: { per: 'minute', counts: 'requests' } }) },
  ],
  ['a window whose end is another', 'L11', { team: WINDOWED, first: TWO, lie: (truth) => ({ ...truth, retryAfterMs: 1 }) as Admission }],
  ['a window that has one more left', 'L11', { team: WINDOWED, lie: more }],
  ['a text longer than a window’s whole number', 'L11', { team: DAILY, asked: { characters: 21 }, lie: admits(21) }],
  [
    'a window to which released characters do not come back',
    'L11',
    {
      team: DAILY,
      before: async (story) => story.settle(await story.admit({ characters: 20 }), 'release'),
      asked: { characters: 20 },
      lie: limited(byDay),
    },
  ],
  ['a reservation beyond the quota', 'L3', { first: [{ characters: 100 }], asked: { characters: 1 }, lie: admits(1) }],
  ['a refusal of what the quota covers', 'L3', { first: [{ characters: 99 }], asked: { characters: 1 }, lie: exceeded }],
  ['a reservation beyond the credit', 'L3', { team: CREDIT, balanceMicro: 25_000, first: [{}], asked: { characters: 1 }, lie: admits(1) }],
  ['a key’s own characters overlooked', 'L3', { key: { characters: 5 }, asked: { characters: 6 }, lie: admits(6) }],
  ['a tag’s characters overlooked', 'L3', { tag: { disabled: false, characters: 5 }, asked: { characters: 6 }, lie: admits(6) }],
  [
    'a test key beyond its allowance',
    'L3',
    { team: { ...QUOTA, testAllowance: 5 }, key: {}, mode: 'test', asked: { characters: 6 }, lie: admits(6) },
  ],
  ['a revoked key that is admitted', 'L7', { before: (story) => story.revoke('key'), lie: lets }],
  ['a disabled key that is admitted', 'L7', { before: (story) => story.changeKey('key', { disabled: true }), lie: lets }],
  ['an expired key that is admitted', 'L7', { key: { expiresAtMs: 1 }, lie: lets }],
  ['a key that is refused though nothing bars it', 'L7', { lie: () => ({ kind: 'key_revoked' }) }],
  ['an address that is not allowed', 'L7', { key: { allowedAddresses: ['10.1.2.3/32'] }, asked: { address: '10.1.2.4' }, lie: lets }],
  ['a scope that is missing', 'L7', { key: { scopes: ['usage:read'] }, asked: { scope: 'translate:text' }, lie: lets }],
  ['a disabled tag that is admitted', 'L7', { tag: { disabled: true }, lie: lets }],
  ['a released request that is committed', 'L4', { settled: [['release'], ['commit', undefined, COMMITTED]] }],
  ['a commit after the end of its lease', 'L4', { asked: { leaseMs: 1000 }, settled: [['commit', undefined, COMMITTED, 8000]] }],
  ['a commit of what reserved nothing', 'L4', { asked: { characters: 0 }, settled: [['commit', undefined, COMMITTED]] }],
  ['an open reservation that is not found', 'L4', { settled: [['commit', undefined, { kind: 'absent' }]] }],
  [
    'something held that leaks',
    'L5',
    { settled: RELEASED, end: ({ standing }) => ({ standing: { ...standing, heldCharacters: 10, openReservations: 1 } }) },
  ],
  ['a failed request that is charged', 'L3', { settled: RELEASED, end: ({ usage }) => ({ usage: { ...usage, characters: 10 } }) }],
  [
    'a double commit',
    'L3',
    {
      team: CREDIT,
      balanceMicro: 100_000,
      settled: COMMIT,
      end: ({ standing }) => ({ standing: { ...standing, balanceMicro: standing.balanceMicro - 25_000 } }),
    },
  ],
  [
    'a part that is charged whole',
    'L9',
    { settled: [['commit', 3]], end: ({ days }) => ({ days: days.map((day) => ({ ...day, characters: 10 })) }) },
  ],
  ['a charge on another day', 'L9', { settled: COMMIT, end: ({ days }) => ({ days: days.map((one) => ({ ...one, day: one.day + 1 })) }) }],
  [
    'a period that lost a charge',
    'L9',
    { settled: COMMIT, end: ({ periods }) => ({ periods: periods.map((period) => ({ ...period, characters: 0 })) }) },
  ],
  ['a use of a key that was not stamped', 'L8', { end: keysWith({ lastUsedAtMs: 1 }) }],
  ['a key’s limit that was lost', 'L10', { key: { characters: 5 }, end: keysWith({ limits: {} }) }],
  [
    'a charge under another tag',
    'L12',
    { asked: { tag: 'shop' }, settled: COMMIT, end: ({ tagDays }) => ({ tagDays: tagDays.map((day) => ({ ...day, tag: 'another' })) }) },
  ],
  [
    'a tag’s use that is not what was counted',
    'L12',
    {
      tag: { disabled: false, characters: 50 },
      settled: RELEASED,
      end: ({ tags }) => ({ tags: tags.map((tag) => ({ ...tag, use: { ...tag.use, characters: 10 } })) }),
    },
  ],
  [
    'a window that shows more than was counted',
    'L11',
    {
      team: WINDOWED,
      end: ({ usage }) => ({ usage: { ...usage, windows: usage.windows!.map((window) => ({ ...window, usedRequests: 2 })) } }),
    },
  ],
];

test.each(WRONG)('%s breaks %s', async (_name, rule, wrong) => {
  const story = new Story();
  await tell(story, wrong);
  expect(story.violations.map((violation) => violation.slice(0, violation.indexOf(':')))).toContain(rule);
  const honest = new Story(true);
  await tell(honest, wrong);
  expect(honest.violations).toEqual([]);
});
