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
import { AuditedTeam } from '../../support/auditor/account.ts';
import type { Action } from '../../support/auditor/deeds.ts';
import { judgeEnd } from '../../support/auditor/end.ts';
import type { Shown } from '../../support/auditor/end.ts';
import { unsound } from '../../support/auditor/totals.ts';
import { referenceStore } from '../../support/reference-store.ts';

const TEAM = '01J0000000000000000000TEAM';
const QUOTA: TeamLimits = {
  billing: 'quota',
  requestsPerSecond: 100,
  maxCharactersPerRequest: 1000,
  maxGlossaries: 1,
  characterLimit: 100,
  overageCharacters: 0,
  overageCapMinor: 0,
  minorPerMillion: 0,
  testAllowance: 0,
  currency: 'EUR',
  period: 'P1M',
  windows: '',
};
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

type Told = (story: Story) => Promise<void>;

const WINDOWED: TeamLimits = { ...QUOTA, characterLimit: 10_000, windows: 'requests=2/minute' };
const rated = { ...QUOTA, requestsPerSecond: 2, characterLimit: 10_000 };

/** Each is right but for one answer. */
const WRONG: readonly (readonly [string, rule: string, Told])[] = [
  [
    'one request more in a second',
    'L6',
    async (story) => {
      await story.team(rated);
      for (let n = 0; n < 2; n++) await story.admit();
      await story.admit({}, () => story.admitted(10));
    },
  ],
  [
    'a refusal in a second with a slot free',
    'L6',
    async (story) => {
      await story.team(rated);
      await story.admit();
      await story.admit({}, () => ({ kind: 'rate_limited', limit: 2, retryAfterMs: 500 }));
    },
  ],
  [
    'a refusal by a rate that is nobody’s',
    'L6',
    async (story) => {
      await story.team(rated);
      for (let n = 0; n < 2; n++) await story.admit();
      await story.admit({}, (truth) => ({ ...truth, limit: 3 }) as Admission);
    },
  ],
  [
    'a key’s own rate overlooked',
    'L6',
    async (story) => {
      await (await story.team(QUOTA)).key('slow', { requestsPerSecond: 1 });
      await story.admit({ key: 'slow' });
      await story.admit({ key: 'slow' }, () => story.admitted(10));
    },
  ],
  [
    'a window that admits beyond',
    'L11',
    async (story) => {
      await story.team(WINDOWED);
      for (let n = 0; n < 2; n++) await story.admit();
      await story.admit({}, () => story.admitted(10));
    },
  ],
  [
    'a window that refuses what fits',
    'L11',
    async (story) => {
      await story.team(WINDOWED);
      await story.admit();
      const window = { per: 'minute', counts: 'requests' } as const;
      await story.admit({}, () => ({ kind: 'rate_limited', limit: 2, retryAfterMs: 500, window }));
    },
  ],
  [
    'a window whose end is another',
    'L11',
    async (story) => {
      await story.team(WINDOWED);
      for (let n = 0; n < 2; n++) await story.admit();
      await story.admit({}, (truth) => ({ ...truth, retryAfterMs: 1 }) as Admission);
    },
  ],
  [
    'a window that has one more left',
    'L11',
    async (story) => {
      await story.team(WINDOWED);
      await story.admit({}, (truth) => ('windows' in truth ? { ...truth, windows: [{ ...truth.windows![0]!, remaining: 2 }] } : truth));
    },
  ],
  [
    'a text longer than a window’s whole number',
    'L11',
    async (story) => {
      await story.team({ ...WINDOWED, windows: 'characters=20/day' });
      await story.admit({ characters: 21 }, () => story.admitted(21));
    },
  ],
  [
    'a window to which released characters do not come back',
    'L11',
    async (story) => {
      await story.team({ ...WINDOWED, windows: 'characters=20/day' });
      await story.settle(await story.admit({ characters: 20 }), 'release');
      const window = { per: 'day', counts: 'characters' } as const;
      await story.admit({ characters: 20 }, () => ({ kind: 'rate_limited', limit: 20, retryAfterMs: 500, window }));
    },
  ],
  [
    'a reservation beyond the quota',
    'L3',
    async (story) => {
      await story.team(QUOTA);
      await story.admit({ characters: 100 });
      await story.admit({ characters: 1 }, () => story.admitted(1));
    },
  ],
  [
    'a refusal of what the quota covers',
    'L3',
    async (story) => {
      await story.team(QUOTA);
      await story.admit({ characters: 99 });
      await story.admit({ characters: 1 }, () => ({ kind: 'quota_exceeded', characterLimit: 100, overageCapMinor: 0, periodEndMs: 0 }));
    },
  ],
  [
    'a reservation beyond the credit',
    'L3',
    async (story) => {
      await story.team(CREDIT, 25_000);
      await story.admit({ characters: 10 });
      await story.admit({ characters: 1 }, () => story.admitted(1));
    },
  ],
  [
    'a key’s own characters overlooked',
    'L3',
    async (story) => {
      await (await story.team(QUOTA)).key('small', { characters: 5 });
      await story.admit({ key: 'small', characters: 6 }, () => story.admitted(6));
    },
  ],
  [
    'a tag’s characters overlooked',
    'L3',
    async (story) => {
      await (await story.team(QUOTA)).tag('shop', { disabled: false, characters: 5 });
      await story.admit({ tag: 'shop', characters: 6 }, () => story.admitted(6));
    },
  ],
  [
    'a test key beyond its allowance',
    'L3',
    async (story) => {
      await (await story.team({ ...QUOTA, testAllowance: 5 })).key('test', {}, 'test');
      await story.admit({ key: 'test', characters: 6 }, () => story.admitted(6));
    },
  ],
  [
    'a revoked key that is admitted',
    'L7',
    async (story) => {
      await story.team(QUOTA);
      await story.revoke('key');
      await story.admit({}, () => RESERVED);
    },
  ],
  [
    'a disabled key that is admitted',
    'L7',
    async (story) => {
      await story.team(QUOTA);
      await story.changeKey('key', { disabled: true });
      await story.admit({}, () => RESERVED);
    },
  ],
  [
    'an expired key that is admitted',
    'L7',
    async (story) => {
      await (await story.team(QUOTA)).key('old', { expiresAtMs: 1 });
      await story.admit({ key: 'old' }, () => RESERVED);
    },
  ],
  [
    'a key that is refused though nothing bars it',
    'L7',
    async (story) => {
      await story.team(QUOTA);
      await story.admit({}, () => ({ kind: 'key_revoked' }));
    },
  ],
  [
    'an address that is not allowed',
    'L7',
    async (story) => {
      await (await story.team(QUOTA)).key('bound', { allowedAddresses: ['10.1.2.3/32'] });
      await story.admit({ key: 'bound', address: '10.1.2.4' }, () => RESERVED);
    },
  ],
  [
    'a scope that is missing',
    'L7',
    async (story) => {
      await (await story.team(QUOTA)).key('narrow', { scopes: ['usage:read'] });
      await story.admit({ key: 'narrow', scope: 'translate:text' }, () => RESERVED);
    },
  ],
  [
    'a disabled tag that is admitted',
    'L7',
    async (story) => {
      await (await story.team(QUOTA)).tag('shop', { disabled: true });
      await story.admit({ tag: 'shop' }, () => RESERVED);
    },
  ],
  [
    'a released request that is committed',
    'L4',
    async (story) => {
      await story.team(QUOTA);
      const id = await story.admit();
      await story.settle(id, 'release');
      await story.settle(id, 'commit', undefined, { kind: 'committed' });
    },
  ],
  [
    'a commit after the end of its lease',
    'L4',
    async (story) => {
      await story.team(QUOTA);
      const id = await story.admit({ leaseMs: 1000 });
      story.step(8000);
      await story.settle(id, 'commit', undefined, { kind: 'committed' });
    },
  ],
  [
    'a commit of what reserved nothing',
    'L4',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit({ characters: 0 }), 'commit', undefined, { kind: 'committed' });
    },
  ],
  [
    'an open reservation that is not found',
    'L4',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit(), 'commit', undefined, { kind: 'absent' });
    },
  ],
  [
    'something held that leaks',
    'L5',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit(), 'release');
      await story.end((truth) => ({ ...truth, standing: { ...truth.standing, heldCharacters: 10, openReservations: 1 } }));
    },
  ],
  [
    'a failed request that is charged',
    'L3',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit(), 'release');
      await story.end((truth) => ({ ...truth, usage: { ...truth.usage, characters: 10 } }));
    },
  ],
  [
    'a double commit',
    'L3',
    async (story) => {
      await story.team(CREDIT, 100_000);
      await story.settle(await story.admit(), 'commit');
      await story.end((truth) => ({ ...truth, standing: { ...truth.standing, balanceMicro: truth.standing.balanceMicro - 25_000 } }));
    },
  ],
  [
    'a part that is charged whole',
    'L9',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit(), 'commit', 3);
      await story.end((truth) => ({ ...truth, days: truth.days.map((day) => ({ ...day, characters: 10 })) }));
    },
  ],
  [
    'a charge on another day',
    'L9',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit(), 'commit');
      await story.end((truth) => ({ ...truth, days: truth.days.map((day) => ({ ...day, day: day.day + 1 })) }));
    },
  ],
  [
    'a period that lost a charge',
    'L9',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit(), 'commit');
      await story.end((truth) => ({ ...truth, periods: truth.periods.map((period) => ({ ...period, characters: 0 })) }));
    },
  ],
  [
    'a use of a key that was not stamped',
    'L8',
    async (story) => {
      await story.team(QUOTA);
      await story.admit();
      await story.end((truth) => ({
        ...truth,
        usage: { ...truth.usage, keys: truth.usage.keys.map((key) => ({ ...key, lastUsedAtMs: 1 })) },
      }));
    },
  ],
  [
    'a key’s limit that was lost',
    'L10',
    async (story) => {
      await (await story.team(QUOTA)).key('small', { characters: 5 });
      await story.end((truth) => ({ ...truth, usage: { ...truth.usage, keys: truth.usage.keys.map((key) => ({ ...key, limits: {} })) } }));
    },
  ],
  [
    'a charge under another tag',
    'L12',
    async (story) => {
      await story.team(QUOTA);
      await story.settle(await story.admit({ tag: 'shop' }), 'commit');
      await story.end((truth) => ({ ...truth, tagDays: truth.tagDays.map((day) => ({ ...day, tag: 'another' })) }));
    },
  ],
  [
    'a tag’s use that is not what was counted',
    'L12',
    async (story) => {
      await (await story.team(QUOTA)).tag('shop', { disabled: false, characters: 50 });
      await story.settle(await story.admit({ tag: 'shop' }), 'release');
      await story.end((truth) => ({ ...truth, tags: truth.tags.map((tag) => ({ ...tag, use: { ...tag.use, characters: 10 } })) }));
    },
  ],
  [
    'a window that shows more than was counted',
    'L11',
    async (story) => {
      await story.team(WINDOWED);
      await story.admit();
      const more = (truth: Shown) => truth.usage.windows!.map((window) => ({ ...window, usedRequests: 2 }));
      await story.end((truth) => ({ ...truth, usage: { ...truth.usage, windows: more(truth) } }));
    },
  ],
];

test.each(WRONG)('%s breaks %s', async (_name, rule, tell) => {
  const story = new Story();
  await tell(story);
  expect(story.violations.map((violation) => violation.slice(0, violation.indexOf(':')))).toContain(rule);
  const honest = new Story(true);
  await tell(honest);
  expect(honest.violations).toEqual([]);
});
