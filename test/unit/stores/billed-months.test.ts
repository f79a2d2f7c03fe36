// Random histories of months on both stores: every invoice equals what a second calculation, from a list of what happened, gives in
// whole millionths; the sum of invoices equals the sum of days; and a closed line never changes.
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { InvoiceReading } from '../../../src/admin/invoice-reading.ts';
import type { InvoiceRow } from '../../../src/admin/invoice-rows.ts';
import { DAY_MS, dayOf } from '../../../src/domain/period.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { daysOfMonth, monthOf } from '../../../src/domain/usage-days.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { GENEROUS_QUOTA, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { emptyRedis } from '../../support/redis-of-file.ts';
import { SEED } from '../../support/seed.ts';
import { sqliteFile } from './sqlite/sqlite-file.ts';

const HISTORIES = 20;
const MONTHLY = 'P1M@calendar';
const MICRO = 1_000_000n;

type Deed =
  | { readonly deed: 'use'; readonly characters: number; readonly other: boolean }
  /** Reserved, and committed so many days later: often in another month. */
  | { readonly deed: 'late'; readonly characters: number; readonly part: number; readonly days: number; readonly other: boolean }
  | { readonly deed: 'plan'; readonly limits: TeamLimits }
  | { readonly deed: 'credit'; readonly micro: number }
  | { readonly deed: 'days'; readonly count: number };

const limits: fc.Arbitrary<TeamLimits> = fc
  .record({
    billing: fc.constantFrom('quota', 'credit'),
    characterLimit: fc.constantFrom(0, 100, 2000),
    minorPerMillion: fc.constantFrom(0, 1, 333_333, 1_500_001),
    overageCapMinor: fc.constantFrom(0, 3, 100_000),
    currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
    testAllowance: fc.constantFrom(0, 0, 150, 3000),
  })
  .map((drawn) => ({ ...GENEROUS_QUOTA, overageCharacters: 1_000_000, ...drawn, period: MONTHLY }) as const);

const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ deed: fc.constant('use' as const), characters: fc.integer({ min: 1, max: 700 }), other: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      deed: fc.constant('late' as const),
      characters: fc.integer({ min: 1, max: 700 }),
      part: fc.integer({ min: 0, max: 800 }),
      days: fc.integer({ min: 0, max: 40 }),
      other: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ deed: fc.constant('plan' as const), limits }) },
  {
    weight: 2,
    arbitrary: fc.record({ deed: fc.constant('credit' as const), micro: fc.integer({ min: -900_000_000, max: 2_000_000_000 }) }),
  },
  { weight: 5, arbitrary: fc.record({ deed: fc.constant('days' as const), count: fc.integer({ min: 1, max: 25 }) }) },
);

const history = fc.record({
  limits,
  balanceMicro: fc.integer({ min: 0, max: 2_000_000_000 }),
  deeds: fc.array(deed, { maxLength: 40, size: 'max' }),
});

interface Charge {
  readonly month: string;
  readonly day: number;
  readonly characters: bigint;
  readonly micro: bigint;
  readonly isTest: boolean;
  readonly isFree: boolean;
}

/** What happened, as a clerk would note it: nothing is added up until it is asked for. */
class Notes {
  readonly charges: Charge[] = [];
  readonly moves: { readonly month: string; readonly micro: bigint }[] = [];
  /** The last plan of each month in which there was one. */
  readonly plans = new Map<string, TeamLimits>();

  invoice(month: string) {
    const plan = this.plans.get(
      [...this.plans.keys()]
        .filter((one) => one <= month)
        .toSorted()
        .at(-1)!,
    )!;
    const own = this.charges.filter((one) => one.month === month);
    const all = (wanted: (one: Charge) => boolean): bigint => own.filter(wanted).reduce((sum, one) => sum + one.characters, 0n);
    const [characters, ofTests, free] = [all(() => true), all(({ isTest }) => isTest), all(({ isFree }) => isFree)];
    const charged = characters - free;
    const spent = own.reduce((sum, one) => sum + one.micro, 0n);
    const moves = this.moves.filter((one) => one.month === month).map(({ micro }) => micro);
    const balance =
      this.moves.filter((one) => one.month <= month).reduce((sum, { micro }) => sum + micro, 0n) -
      this.charges.filter((one) => one.month <= month).reduce((sum, { micro }) => sum + micro, 0n);
    const added = moves.filter((micro) => micro > 0n).reduce((sum, micro) => sum + micro, 0n);
    const deducted = -moves.filter((micro) => micro < 0n).reduce((sum, micro) => sum + micro, 0n);
    const isQuota = plan.billing === 'quota';
    const beyond = charged > BigInt(plan.characterLimit) ? charged - BigInt(plan.characterLimit) : 0n;
    const uncapped = (beyond * BigInt(plan.minorPerMillion)) / MICRO;
    const cost = uncapped > BigInt(plan.overageCapMinor) ? BigInt(plan.overageCapMinor) : uncapped;
    const movedNothing = spent === 0n && added === 0n && deducted === 0n;
    const credit = (micro: bigint): number | null => (isQuota && movedNothing ? null : Number(micro / MICRO));
    return {
      billing: plan.billing,
      request_count: own.length,
      character_count: Number(characters),
      included_characters: isQuota ? plan.characterLimit : null,
      overage_characters: isQuota ? Number(beyond) : null,
      overage_cost_minor: isQuota ? Number(cost) : null,
      credit_spent_minor: credit(spent),
      credit_added_minor: credit(added),
      credit_deducted_minor: credit(deducted),
      balance_minor: credit(balance),
      total_minor: isQuota ? Number(cost) : Number(spent / MICRO),
      currency: plan.currency,
      test_character_count: Number(ofTests),
      free_character_count: Number(free),
    };
  }

  /** Whether a store keeps the month: without characters and movements it need not. */
  isKept(month: string): boolean {
    return (
      this.charges.some((one) => one.month === month && one.characters + one.micro > 0n) || this.moves.some((one) => one.month === month)
    );
  }
}

const clock = new MovableClock();
const redis = emptyRedis();
const file = sqliteFile();
afterEach(() => file.remove());

async function linesOf(store: PluginStore, teamId: string, from: number, to: number, open: boolean): Promise<InvoiceRow[]> {
  const rows: InvoiceRow[] = [];
  for await (const part of new InvoiceReading(store.history).walk({ range: { from, to }, open, teamId })) {
    if (part.kind !== 'done') return expect.unreachable(part.kind);
    rows.push(...part.value.invoices.map(({ row }) => row));
  }
  return rows;
}

class Month {
  readonly #store: PluginStore;
  readonly #team: TeamUnderTest;
  readonly #notes = new Notes();
  readonly #firstDay = dayOf(clock.nowMs());
  readonly #closed = new Map<string, InvoiceRow>();
  #limits: TeamLimits;
  #open: { readonly requestId: string; readonly dueMs: number; readonly commit: () => Promise<void> }[] = [];
  #keyId = '';

  constructor(store: PluginStore, team: TeamUnderTest, first: TeamLimits, balanceMicro: number) {
    this.#store = store;
    this.#team = team;
    this.#limits = first;
    this.#notes.plans.set(this.#month(), first);
    if (balanceMicro > 0) this.#notes.moves.push({ month: this.#month(), micro: BigInt(balanceMicro) });
  }

  #month(): string {
    return monthOf(dayOf(clock.nowMs()));
  }

  async do(one: Deed): Promise<void> {
    switch (one.deed) {
      case 'use':
        return this.#charge(one.characters, one.characters, 0, one.other);
      case 'late':
        return this.#charge(one.characters, Math.min(one.part, one.characters), one.days, one.other);
      case 'plan':
        this.#limits = one.limits;
        this.#notes.plans.set(this.#month(), one.limits);
        return this.#team.setLimits(one.limits);
      case 'credit': {
        if (one.micro === 0) return;
        const changed = answered(await this.#store.teams.updateTeam(this.#team.teamId, { addMicro: one.micro }));
        if (changed !== undefined && !('kind' in changed)) this.#notes.moves.push({ month: this.#month(), micro: BigInt(one.micro) });
        return;
      }
      case 'days':
        for (let day = 0; day < one.count; day++) await this.#nextDay();
        return this.compare();
    }
  }

  async #charge(characters: number, part: number, days: number, other: boolean): Promise<void> {
    if (other && this.#keyId === '') this.#keyId = (await this.#team.newKey('tests', 'test')).keyId;
    const admitted = await this.#team.admit({ characters, leaseMs: 60 * DAY_MS, ...(other ? { keyId: this.#keyId } : {}) });
    if (admitted.kind !== 'admitted') return;
    const { requestId } = admitted.reservation!;
    const month = this.#month();
    const isFree = other && this.#limits.testAllowance > 0;
    const price = this.#limits.billing === 'credit' && !isFree ? BigInt(this.#limits.minorPerMillion) : 0n;
    const commit = async (): Promise<void> => {
      expect(await this.#team.commitPart(requestId, part)).toEqual({ kind: 'committed' });
      this.#notes.charges.push({
        month,
        day: dayOf(clock.nowMs()),
        characters: BigInt(part),
        micro: BigInt(part) * price,
        isTest: other,
        isFree,
      });
    };
    if (days === 0) return commit();
    this.#open.push({ requestId, dueMs: clock.nowMs() + days * DAY_MS, commit });
  }

  async #nextDay(): Promise<void> {
    clock.step(DAY_MS);
    const due = this.#open.filter(({ dueMs }) => dueMs <= clock.nowMs());
    this.#open = this.#open.filter((one) => !due.includes(one));
    for (const { commit } of due) await commit();
  }

  async end(): Promise<void> {
    for (const { commit } of this.#open.splice(0)) await commit();
    for (let day = 0; day < 31; day++) await this.#nextDay();
    await this.compare();
    expect(this.#closed.size).toBe([...this.#months()].filter((month) => month < this.#month() && this.#notes.isKept(month)).length);
  }

  *#months(): Generator<string> {
    for (let day = this.#firstDay; day <= dayOf(clock.nowMs()); day++)
      if (day === this.#firstDay || day === daysOfMonth(monthOf(day))!.from) yield monthOf(day);
  }

  async compare(): Promise<void> {
    const today = dayOf(clock.nowMs());
    const lines = await linesOf(this.#store, this.#team.teamId, this.#firstDay - 31, today + 31, true);
    const kept = lines.filter(({ period_start: start }) => this.#notes.isKept(start.slice(0, 7)));
    for (const line of kept) {
      // A team's first period begins with the team's month.
      const month = line.period_start.slice(0, 7);
      expect({ month, ...line }).toMatchObject({ month, ...this.#notes.invoice(month) });
      if (!line.closed) continue;
      expect(line).toEqual(this.#closed.get(month) ?? line);
      this.#closed.set(month, line);
    }
    const { days } = answered(await this.#store.history!.days(this.#team.teamId, { from: this.#firstDay, to: today }))!;
    const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
    expect(sum(lines.map((line) => line.character_count))).toBe(sum(days.map(({ characters }) => characters)));
    expect(sum(kept.map((line) => line.request_count!)) <= sum(days.map(({ requests }) => requests))).toBe(true);
  }
}

test.each([
  ['Redis', () => redis.open({ clock })],
  ['SQLite', () => file.open({ clock })],
] as const)('in %s', { timeout: 120_000 }, async (_, open) => {
  const store = await open();
  await fc.assert(
    fc.asyncProperty(history, async ({ limits: first, balanceMicro, deeds }) => {
      const startMicro = first.billing === 'credit' ? balanceMicro : 0;
      const team = await teamUnderTest(store, first, startMicro);
      const month = new Month(store, team, first, startMicro);
      for (const one of deeds) await month.do(one);
      await month.end();
    }),
    { seed: SEED, numRuns: HISTORIES },
  );
});
