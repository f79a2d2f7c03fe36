// Random histories of months on both stores, copied from one to the other in between: every invoice equals what a second calculation,
// from a list of what happened, gives in whole millionths; the sum of invoices equals the sum of days; a closed line never changes.
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { listInvoices } from '../../../src/admin/operations/invoices.ts';
import type { InvoiceRow } from '../../../src/admin/operations/invoices.ts';
import { copyStoreTo } from '../../../src/app/store-upkeep.ts';
import { DAY_MS, dayOf, spentIn } from '../../../src/domain/period.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { dateOf, daysOfMonth, monthOf } from '../../../src/domain/usage-days.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { freshKey, GENEROUS_QUOTA, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { ClerkNotes } from '../../support/clerk-notes.ts';
import type { NotedPlan } from '../../support/clerk-notes.ts';
import { allRowsOf } from '../admin/history-context.ts';
import { emptyRedis } from '../../support/redis-of-file.ts';
import { draws } from '../../support/seed.ts';
import { sqliteFile } from './sqlite/sqlite-file.ts';

const MONTHLY = 'P1M@calendar';

type Deed =
  | { readonly deed: 'use'; readonly characters: number; readonly other: boolean }
  /** Reserved, and committed so many days later: often in another month. */
  | { readonly deed: 'late'; readonly characters: number; readonly part: number; readonly days: number; readonly other: boolean }
  | { readonly deed: 'plan'; readonly limits: TeamLimits; readonly when: 'now' | 'next-period' }
  /** Nothing but the price, higher or lower. */
  | { readonly deed: 'price'; readonly minorPerMillion: number; readonly when: 'now' | 'next-period' }
  /** The plan that waits for the next period is taken back. */
  | { readonly deed: 'stay' }
  | { readonly deed: 'copy' }
  | { readonly deed: 'credit'; readonly micro: number }
  | { readonly deed: 'days'; readonly count: number };

const prices = fc.constantFrom(0, 1, 333_333, 1_500_001);
const times = fc.constantFrom('now' as const, 'next-period' as const);

const limits: fc.Arbitrary<TeamLimits> = fc
  .record({
    billing: fc.constantFrom('quota', 'credit'),
    characterLimit: fc.constantFrom(0, 100, 2000),
    minorPerMillion: prices,
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
  { weight: 2, arbitrary: fc.record({ deed: fc.constant('plan' as const), limits, when: times }) },
  { weight: 2, arbitrary: fc.record({ deed: fc.constant('price' as const), minorPerMillion: prices, when: times }) },
  { weight: 1, arbitrary: fc.constant({ deed: 'stay' as const }) },
  { weight: 1, arbitrary: fc.constant({ deed: 'copy' as const }) },
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
  /** At the end, with what is open; its usage is kept, and copied. */
  deleted: fc.boolean(),
});

const clock = new MovableClock();
const redis = emptyRedis();
const file = sqliteFile();
afterAll(() => file.remove());

type Kind = 'Redis' | 'SQLite';
let files = 0;

/** A new store, which a copy moves to one of the other kind. */
class Place {
  #kind: Kind;
  #url = '';
  #store: PluginStore | undefined;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  get store(): PluginStore {
    return this.#store!;
  }

  async open(): Promise<void> {
    this.#url = await this.#newUrl();
    await this.#open();
  }

  async move(): Promise<void> {
    await this.close();
    const from = this.#url;
    this.#kind = this.#kind === 'Redis' ? 'SQLite' : 'Redis';
    this.#url = await this.#newUrl();
    await copyStoreTo({ from, to: this.#url, restart: false, onProgress: () => undefined });
    await this.#open();
  }

  async close(): Promise<void> {
    await this.#store?.close();
    this.#store = undefined;
  }

  async #newUrl(): Promise<string> {
    if (this.#kind === 'SQLite') return `sqlite:${join(file.directory, `${files++}.db`)}`;
    await redis.client.flushall();
    return redis.server.url;
  }

  async #open(): Promise<void> {
    const path = this.#url.slice('sqlite:'.length);
    this.#store = await (this.#kind === 'Redis' ? redis.open({ clock }) : file.open({ clock, path, durability: 'normal' }));
  }
}

async function linesOf(store: PluginStore, teamId: string, from: number, to: number, open: boolean): Promise<InvoiceRow[]> {
  return allRowsOf(listInvoices, store.history, { from: dateOf(from), to: dateOf(to), open, team: teamId });
}

class Month {
  readonly #place: Place;
  readonly #team: TeamUnderTest;
  readonly #notes = new ClerkNotes();
  readonly #firstDay = dayOf(clock.nowMs());
  readonly #closed = new Map<string, InvoiceRow>();
  #limits: TeamLimits;
  /** Begins with the next month. */
  #waiting: NotedPlan | undefined;
  #plans = 0;
  #open: { readonly requestId: string; readonly dueMs: number; readonly commit: () => Promise<void> }[] = [];
  #keyId = '';

  constructor(place: Place, team: TeamUnderTest, first: TeamLimits, balanceMicro: number) {
    this.#place = place;
    this.#team = team;
    this.#limits = first;
    this.#notes.plans.set(this.#month(), { name: 'test', limits: first });
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
        return this.#changePlan(one.limits, one.when);
      case 'price':
        return this.#changePlan({ ...this.#limits, minorPerMillion: one.minorPerMillion }, one.when);
      case 'stay':
        this.#waiting = undefined;
        return void answered(await this.#teams.updateTeam(this.#team.teamId, { nextPlan: null }));
      case 'copy':
        await this.#place.move();
        return this.compare();
      case 'credit': {
        if (one.micro === 0) return;
        const changed = answered(await this.#teams.updateTeam(this.#team.teamId, { addMicro: one.micro }));
        if (changed !== undefined && !('kind' in changed)) this.#notes.moves.push({ month: this.#month(), micro: BigInt(one.micro) });
        return;
      }
      case 'days':
        for (let day = 0; day < one.count; day++) await this.#nextDay();
        return this.compare();
    }
  }

  get #teams(): PluginStore['teams'] {
    return this.#place.store.teams;
  }

  async #changePlan(changed: TeamLimits, time: 'now' | 'next-period'): Promise<void> {
    const plan = { name: `plan ${++this.#plans}`, limits: changed };
    if (time === 'now') this.#begin(plan);
    else this.#waiting = plan;
    answered(await this.#teams.updateTeam(this.#team.teamId, time === 'now' ? { plan } : { nextPlan: plan }));
  }

  #begin(plan: NotedPlan): void {
    this.#limits = plan.limits;
    this.#notes.plans.set(this.#month(), plan);
  }

  async #charge(characters: number, part: number, days: number, other: boolean): Promise<void> {
    if (other && this.#keyId === '') {
      const key = freshKey(this.#team.teamId, 'tests', 'test');
      answered(await this.#teams.createKey(key));
      this.#keyId = key.keyId;
    }
    const asked = { characters, leaseMs: 60 * DAY_MS, ...(other ? { keyId: this.#keyId } : {}) };
    const admitted = await this.#team.admit(asked, this.#place.store);
    if (admitted.kind !== 'admitted') return;
    const { requestId } = admitted.reservation!;
    const month = this.#month();
    const isFree = other && this.#limits.testAllowance > 0;
    const price = this.#limits.billing === 'credit' && !isFree ? BigInt(this.#limits.minorPerMillion) : 0n;
    const commit = async (): Promise<void> => {
      expect(await this.#team.commitPart(requestId, part, this.#place.store)).toEqual({ kind: 'committed' });
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
    const before = this.#month();
    clock.step(DAY_MS);
    if (this.#waiting !== undefined && this.#month() !== before) {
      this.#begin(this.#waiting);
      this.#waiting = undefined;
    }
    const due = this.#open.filter(({ dueMs }) => dueMs <= clock.nowMs());
    this.#open = this.#open.filter((one) => !due.includes(one));
    for (const { commit } of due) await commit();
  }

  async end(): Promise<void> {
    for (const { commit } of this.#open.splice(0)) await commit();
    for (let day = 0; day < 31; day++) await this.#nextDay();
    await this.compare();
    this.#expectClosed((month) => month < this.#month());
  }

  /** The running month is closed, and what was reserved costs nothing. */
  async delete(): Promise<void> {
    await this.compare();
    answered(await this.#teams.deleteTeam(this.#team.teamId, { keepUsage: true }));
    for (const [month, line] of this.#closed) this.#closed.set(month, { ...line, name: null });
    // Without usage nothing is left.
    if (answered(await this.#place.store.history.periods(this.#team.teamId)) === undefined) return this.#expectClosed(() => true);
    await this.compare();
    this.#expectClosed(() => true);
    await this.#place.move();
    await this.compare();
  }

  #expectClosed(wanted: (month: string) => boolean): void {
    expect(this.#closed.size).toBe([...this.#months()].filter((month) => wanted(month) && this.#notes.isKept(month)).length);
  }

  *#months(): Generator<string> {
    for (let day = this.#firstDay; day <= dayOf(clock.nowMs()); day++)
      if (day === this.#firstDay || day === daysOfMonth(monthOf(day))!.from) yield monthOf(day);
  }

  async compare(): Promise<void> {
    const today = dayOf(clock.nowMs());
    const lines = await linesOf(this.#place.store, this.#team.teamId, this.#firstDay - 31, today + 31, true);
    const kept = lines.filter(({ period_start: start }) => this.#notes.isKept(start.slice(0, 7)));
    for (const line of kept) {
      // A team's first period begins with the team's month.
      const month = line.period_start.slice(0, 7);
      expect({ month, ...line }).toMatchObject({ month, ...this.#notes.invoice(month) });
      if (!line.closed) continue;
      expect(line).toEqual(this.#closed.get(month) ?? line);
      this.#closed.set(month, line);
    }
    for (const { startMs, credit } of answered(await this.#place.store.history.periods(this.#team.teamId))!) {
      const month = monthOf(dayOf(startMs));
      if (!this.#notes.isKept(month)) continue;
      const { addedMicro, deductedMicro, balanceMicro } = credit;
      const [spent, added, deducted, balance] = [spentIn(credit), addedMicro, deductedMicro, balanceMicro].map(BigInt);
      expect({ month, spent, added, deducted, balance }).toEqual({ month, ...this.#notes.credit(month) });
    }
    const { days } = answered(await this.#place.store.history.days(this.#team.teamId, { from: this.#firstDay, to: today }))!;
    const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
    expect(sum(lines.map((line) => line.character_count))).toBe(sum(days.map(({ characters }) => characters)));
    expect(sum(kept.map((line) => line.request_count)) <= sum(days.map(({ requests }) => requests))).toBe(true);
  }
}

test.each(['Redis', 'SQLite'] as const)('beginning in %s', { timeout: 120_000 }, async (kind) => {
  await fc.assert(
    fc.asyncProperty(history, async ({ limits: first, balanceMicro, deeds, deleted }) => {
      const place = new Place(kind);
      await place.open();
      const startMicro = first.billing === 'credit' ? balanceMicro : 0;
      const month = new Month(place, await teamUnderTest(place.store, first, startMicro), first, startMicro);
      for (const one of deeds) await month.do(one);
      await (deleted ? month.delete() : month.end());
      await place.close();
    }),
    { numRuns: draws(4) },
  );
});
