// The watch over all teams: every page once, only the worst of each kind, and nothing lost while the store is unreachable.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { TeamPage, TeamRegistry, TeamSummary } from '../../../src/ports/team-registry.ts';
import { TeamWatch } from '../../../src/runtime/team-watch.ts';
import type { TeamWatchSettings } from '../../../src/runtime/team-watch.ts';
import { Worst } from '../../../src/runtime/worst.ts';
import { GENEROUS_QUOTA, PREPAID } from '../../../src/testing/store/team-under-test.ts';
import { AWAY } from '../../support/away-store.ts';

const NOW = Date.parse('2026-11-01T00:00:00Z');
const DAY_MS = 86_400_000;
const SETTINGS: TeamWatchSettings = { everyMs: 60_000, teamsMax: 3, quotaUsedRatio: 0.8, creditCharacters: 1000, keyUnusedMs: 30 * DAY_MS };
const ACTIVE = { activeKeys: 1, lastUsedAtMs: NOW, idlestKey: { keyId: 'K', sinceMs: NOW } };

let watch: TeamWatch | undefined;
const said: string[] = [];
const say = (message: string): void => void said.push(message);

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  said.length = 0;
});

afterEach(() => {
  watch?.close();
  vi.useRealTimers();
});

const team = (teamId: string, characters: number, more: Partial<TeamSummary> = {}): TeamSummary => ({
  team: { teamId, name: teamId, plan: 'p', limits: { ...GENEROUS_QUOTA, characterLimit: 100 }, balanceMicro: 0, createdAtMs: NOW },
  characters,
  allowanceUsed: 0,
  ...ACTIVE,
  ...more,
});

const prepaid = (teamId: string, balanceMicro: number): TeamSummary => {
  const summary = team(teamId, 0);
  return { ...summary, team: { ...summary.team, limits: PREPAID, balanceMicro } };
};

/** A watch over these teams; `ask` is called for every page. */
function watchOver(teams: readonly TeamSummary[], ask: (page: TeamPage) => unknown = () => undefined, settings = SETTINGS): TeamWatch {
  const pageSummaries: TeamRegistry['pageSummaries'] = async (page) => {
    const failure = ask(page);
    if (isUnavailable(failure)) return failure;
    const first = teams.findIndex(({ team: { teamId } }) => teamId === page.after) + 1;
    return teams.slice(first, first + page.limit);
  };
  const log = { info: say, warn: say, error: say };
  return (watch = new TeamWatch({ teams: { pageSummaries }, settings, log, now: () => Date.now(), wallMs: () => Date.now() }));
}

describe('the watch', () => {
  test('reads all teams a page at a time, and starts again after its interval', async () => {
    const pages: (string | undefined)[] = [];
    const all = Array.from({ length: 120 }, (_, i) => team(`T${i}`, 0));
    const { latest } = watchOver(all, ({ after, limit }) => {
      expect(limit).toBeLessThanOrEqual(100);
      pages.push(after);
    });
    expect(latest.passedAtMs).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1000);
    expect(pages).toEqual([undefined, 'T49', 'T99']);
    expect(watch!.latest.counts).toEqual({ all: 120, quota_nearly_used: 0, credit_low: 0, key_unused: 0 });
    expect(watch!.latest.passedAtMs).toBeGreaterThan(NOW);
    await vi.advanceTimersByTimeAsync(58_000);
    expect(pages).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(2000);
    expect(pages).toHaveLength(6);
  });

  test('reports the worst of each kind, up to the limit, and counts them all', async () => {
    const used = [81, 99, 80, 79, 100, 95].map((characters) => team(`Q${characters}`, characters));
    const credit = [999, 0, 1000, 7, 500].map((characters) => prepaid(`C${characters}`, characters * 2500));
    const keys = [29, 30, 90, 31, 60].map((days) =>
      team(`K${days}`, 0, { idlestKey: { keyId: `k${days}`, sinceMs: NOW - days * DAY_MS } }),
    );
    watchOver([...used, ...credit, ...keys]);
    await vi.advanceTimersByTimeAsync(0);
    const { counts, quota, credit: low, keys: unused } = watch!.latest;
    expect(counts).toEqual({ all: 16, quota_nearly_used: 5, credit_low: 4, key_unused: 4 });
    expect(quota.map(({ teamId, usedRatio }) => [teamId, usedRatio])).toEqual([
      ['Q100', 1],
      ['Q99', 0.99],
      ['Q95', 0.95],
    ]);
    expect(low.map(({ teamId, characters }) => [teamId, characters])).toEqual([
      ['C0', 0],
      ['C7', 7],
      ['C500', 500],
    ]);
    expect(unused.map(({ teamId, keyId, unusedSeconds }) => [teamId, keyId, unusedSeconds / 86_400])).toEqual([
      ['K90', 'k90', 90],
      ['K60', 'k60', 60],
      ['K31', 'k31', 31],
    ]);
  });

  test('leaves out teams without an active key, counts overage as quota, and treats a quota of 0 as used up', async () => {
    const keyless = { activeKeys: 0, idlestKey: undefined };
    const overage = team('overage', 100);
    watchOver([
      team('keyless', 100, keyless),
      { ...prepaid('poor', 0), ...keyless },
      { ...overage, team: { ...overage.team, limits: { ...overage.team.limits, overageCharacters: 100 } } },
      { ...overage, team: { ...overage.team, teamId: 'nothing', limits: { ...overage.team.limits, characterLimit: 0 } } },
    ]);
    await vi.advanceTimersByTimeAsync(0);
    expect(watch!.latest.quota).toEqual([{ teamId: 'nothing', usedRatio: 1 }]);
    expect(watch!.latest.counts).toEqual({ all: 4, quota_nearly_used: 1, credit_low: 0, key_unused: 0 });
  });

  test('keeps its results while the store is unreachable, logs that once, and continues when it is back', async () => {
    let [away, buggy] = [false, false];
    watchOver([team('full', 100)], () => {
      if (!away) return undefined;
      if (buggy) throw new Error('a bug');
      return AWAY;
    });
    await vi.advanceTimersByTimeAsync(0);
    const found = watch!.latest;
    away = true;
    await vi.advanceTimersByTimeAsync(120_000);
    buggy = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(watch!.latest).toBe(found);
    expect(said).toEqual(['the teams could not be read: their metrics stay as they were']);
    away = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(watch!.latest.passedAtMs).toBeGreaterThan(found.passedAtMs!);
    expect(said).toHaveLength(2);
  });

  test('reads nothing more once it is closed, even in the middle of a pass', async () => {
    let pages = 0;
    watchOver(
      Array.from({ length: 200 }, (_, i) => team(`T${i}`, 0)),
      () => void pages++,
    );
    await vi.advanceTimersByTimeAsync(0);
    watch!.close();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(pages).toBe(1);
  });

  test('keeps no more of 100,000 teams near a limit than of a few', () => {
    const worst = new Worst<{ readonly badness: number }>(50, ({ badness }) => badness);
    const order = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_000);
    for (const badness of order) worst.add({ badness });
    expect(worst.count).toBe(100_000);
    expect(worst.kept.map(({ badness }) => badness)).toEqual(Array.from({ length: 50 }, (_, i) => 99_999 - i));
  });
});
