// Operations on a whole store, for the command line.
import type { ReportFinding } from '../ports/store-contents.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import { isSameStore, openMender, openReader, openSource, openWriter } from '../stores/open-reader.ts';
import { copyStore } from '../stores/whole-copy.ts';
import type { CopyProgress, StoreTally } from '../stores/whole-copy.ts';
import { checkStore } from '../stores/store-check.ts';
import type { CheckCounts } from '../stores/store-check.ts';
import { planRepair, repairTeams } from '../stores/store-repair.ts';
import type { RepairedTeam, RepairPlan } from '../stores/store-repair.ts';

export type { RepairedTeam, RepairPlan } from '../stores/store-repair.ts';
export { backUpStore } from '../stores/backup.ts';

/** Rejects with a `StoreError` if the store cannot be read. */
export async function checkStoreAt(url: string, report: ReportFinding, onTeam: (teams: number) => void): Promise<CheckCounts> {
  const reader = await openReader(url);
  try {
    return await checkStore(reader, report, { onTeam });
  } finally {
    await reader.close();
  }
}

export interface RepairRequest {
  readonly url: string;
  /** For how many days the store keeps usage. */
  readonly historyDays: number;
  /** Shows what would be done; false leaves everything as it is. */
  readonly confirm: (plan: RepairPlan) => Promise<boolean>;
  /** Awaited after each team that was repaired, with the store's time. */
  readonly onTeam: (team: RepairedTeam, nowMs: number) => Promise<void>;
}

/**
 * Undoes what a wrong clock has begun in a store. Resolves with what was done to each team. Rejects with a `StoreError` if the
 * store cannot be read or written, or if its contents show that the clock is behind.
 */
export async function repairStoreAt({ url, historyDays, confirm, onTeam }: RepairRequest): Promise<readonly RepairedTeam[]> {
  const mender = await openMender(url);
  try {
    const plan = await planRepair(mender.reader, historyDays);
    if (plan.teams.length === 0) return [];
    if (plan.doubt !== undefined) {
      const now = new Date(plan.nowMs).toISOString();
      throw new StoreError(
        `the clock of ${withoutCredentials(url)} says ${now}, but ${plan.doubt}: it seems to be behind now, and nothing was repaired; set the clock right`,
      );
    }
    const done: RepairedTeam[] = [];
    if (!(await confirm(plan))) return done;
    await repairTeams(mender, plan, historyDays, async (team, nowMs) => {
      done.push(team);
      await onTeam(team, nowMs);
    });
    return done;
  } finally {
    await mender.close();
  }
}

export interface CopyRequest {
  readonly from: string;
  readonly to: string;
  /** Clears what an incomplete copy has left in the target. */
  readonly restart: boolean;
  readonly onProgress: (progress: CopyProgress) => void;
}

/** Rejects with a `StoreError`; once the copy has begun, the target is marked as incomplete. */
export async function copyStoreTo({ from, to, restart, onProgress }: CopyRequest): Promise<StoreTally> {
  if (isSameStore(from, to))
    throw new StoreError(`--from and --to are the same store, ${withoutCredentials(from)}: name another one for --to`);
  const source = await openSource(from);
  try {
    const writer = await openWriter(to, restart);
    try {
      return await copyStore(source.reader, writer, { onProgress, stillAlone: () => source.stillAlone() });
    } finally {
      await writer.close();
    }
  } finally {
    await source.reader.close();
  }
}
