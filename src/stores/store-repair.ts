// Undoes what a clock that was ahead for a while has begun in a store: says first what it would do, and refuses if the store shows
// that the clock is behind now.
import { DAY_MS, dayOf } from '../domain/period.ts';
import type { StoreMender, StoreReader, TeamContents } from '../ports/store-contents.ts';
import { isAhead, lostUntil, repairOf } from './clock-repair.ts';
import type { TeamRepair } from './clock-repair.ts';

interface Bounds {
  readonly startMs: number;
  readonly endMs: number;
}

/** What is done, or would be, to a team. */
export interface RepairedTeam extends Pick<TeamRepair, 'what' | 'movedCharacters' | 'unknownCharacters'> {
  readonly teamId: string;
  readonly name: string;
  /** The team's period that has not begun, and the one that it gets, with its characters. */
  readonly from: Bounds;
  readonly to: Bounds;
  readonly usedCharacters: number;
  /** The retention may have deleted all days until this one; they cannot be restored. */
  readonly lostUntilDay: number | undefined;
}

export interface RepairPlan {
  readonly nowMs: number;
  readonly teams: readonly RepairedTeam[];
  /** One sentence; `undefined` if nothing speaks against the present time. */
  readonly doubt: string | undefined;
}

/** Reads every team, and changes nothing. */
export async function planRepair(reader: StoreReader, historyDays: number): Promise<RepairPlan> {
  const nowMs = await reader.nowMs();
  const teams: RepairedTeam[] = [];
  const later = new Set<number>();
  for await (const contents of reader.teams(() => undefined)) {
    for (const day of daysAhead(contents, nowMs)) later.add(day);
    const repair = repairOf(contents, nowMs);
    if (repair !== undefined) teams.push(repairedTeam(contents, repair, nowMs, historyDays));
  }
  return { nowMs, teams, doubt: doubtOf(later, await reader.lastServedMs(), nowMs) };
}

/** Repairs the teams of a plan, as they are by then. Can be repeated if it was interrupted. `onTeam` is awaited after each. */
export async function repairTeams(
  mender: StoreMender,
  plan: RepairPlan,
  historyDays: number,
  onTeam: (team: RepairedTeam, nowMs: number) => Promise<void>,
): Promise<void> {
  for (const { teamId } of plan.teams) {
    const nowMs = await mender.reader.nowMs();
    const before = await mender.reader.team(teamId, () => undefined);
    const repair = await mender.mend(teamId, nowMs, (contents, lastCounts) => repairOf(contents, nowMs, lastCounts));
    if (before !== undefined && repair !== undefined) await onTeam(repairedTeam(before, repair, nowMs, historyDays), nowMs);
  }
  await mender.finish(await mender.reader.nowMs());
}

function repairedTeam(before: TeamContents, repair: TeamRepair, nowMs: number, historyDays: number): RepairedTeam {
  const { contents, what, movedCharacters, unknownCharacters } = repair;
  const { team, period } = before;
  return {
    teamId: team.teamId,
    name: team.name,
    what,
    from: { startMs: period.startMs, endMs: period.endMs },
    to: { startMs: contents.period.startMs, endMs: contents.period.endMs },
    usedCharacters: contents.usedCharacters,
    movedCharacters,
    unknownCharacters,
    lostUntilDay: lostUntil(before, nowMs, historyDays),
  };
}

/** Days to come on which something was counted or created. */
function daysAhead({ team, keys, days }: TeamContents, nowMs: number): number[] {
  const moments = [team.createdAtMs, ...keys.flatMap(({ createdAtMs, lastUsedAtMs = 0 }) => [createdAtMs, lastUsedAtMs])];
  const all = [...days.map(({ day }) => day), ...moments.filter((atMs) => isAhead(atMs, nowMs)).map(dayOf)];
  return all.filter((day) => day > dayOf(nowMs));
}

/**
 * A clock that was ahead for a while leaves days far from now, few and together. One that is behind now leaves the days that
 * have really passed: they follow the present one.
 */
function doubtOf(later: ReadonlySet<number>, lastServedMs: number | undefined, nowMs: number): string | undefined {
  if (lastServedMs !== undefined && isAhead(lastServedMs, nowMs)) {
    return `a gateway was last seen at ${new Date(lastServedMs).toISOString()}, later than the present time`;
  }
  const [first, last] = [Math.min(...later), Math.max(...later)];
  if (later.size === 0 || last - first + 1 < first - dayOf(nowMs)) return undefined;
  const [from, to] = [first, last].map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10));
  return `it was used on ${later.size} later ${later.size === 1 ? 'day' : 'days'}, from ${from} to ${to}`;
}
