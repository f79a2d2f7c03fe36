// The part of lingate store check --repair that an operator sees: what would be done to each team, the question, and the report.
import { AdminOperations } from '../../admin/admin-operations.ts';
import type { RepairedTeam, RepairPlan } from '../../app/store-upkeep.ts';
import type { AuditedPeriod } from '../../domain/audit-entry.ts';
import { dateOf } from '../../domain/usage-days.ts';
import { rfc3339 } from '../../domain/period.ts';
import { ulidSource } from '../../domain/ulid.ts';
import type { CommandContext } from '../command.ts';
import { confirm, requireConfirmable } from '../confirmation.ts';
import { commandActor, valueOf, withStore } from '../with-store.ts';

/** What the operator types to go on. */
const WORD = 'repair';
/** Any more teams are only counted. */
const SHOWN_MAX = 1000;

interface Repaired {
  readonly teams: readonly RepairedTeam[];
  /** A line for each thing that was mended. */
  readonly documents: readonly string[];
}

/** What was done, for the report of the command. Throws a `UsageError` before anything is read if nobody can be asked. */
export async function repairedStore(context: CommandContext): Promise<Repaired> {
  requireConfirmable(context, '--repair');
  const { repairDocuments, repairStoreAt, withWholeStores } = await import('../../app/store-upkeep.ts');
  const asked = async (plan: RepairPlan): Promise<boolean> => {
    await confirm(context, { does: `${planText(plan)}\n`, word: WORD, wordIs: WORD });
    return true;
  };
  let repaired: Repaired = { teams: [], documents: [] };
  await withStore(context, async (store, config, nowMs) => {
    const { teams, audit } = store;
    const { store: url, plans, history } = config;
    const admin = new AdminOperations({ teams, plans: () => plans, newId: ulidSource(nowMs), audit, actor: commandActor() });
    const onTeam = async ({ teamId, from, to }: RepairedTeam, atMs: number): Promise<void> =>
      valueOf(await admin.audit.repaired(teamId, audited(from), audited(to), atMs));
    const repair = { url, historyDays: history.days, confirm: asked, onTeam };
    const done = await withWholeStores(
      [url],
      () => Promise.resolve(config),
      (others) => repairStoreAt({ ...repair, others }),
    );
    const documents = await repairDocuments(config, store, nowMs, async (lines) => {
      await confirm(context, { does: `What would be mended:\n${lines.join('\n')}\n`, word: WORD, wordIs: WORD });
      return true;
    });
    repaired = { teams: done, documents };
  });
  return repaired;
}

function audited({ startMs, endMs }: RepairedTeam['from']): AuditedPeriod {
  return { periodStartMs: startMs, periodEndMs: endMs };
}

function planText({ nowMs, teams }: RepairPlan): string {
  const rest = teams.length > SHOWN_MAX ? [`and ${teams.length - SHOWN_MAX} more`] : [];
  return [
    `By the store's clock it is ${rfc3339(nowMs)}. What would be repaired:`,
    ...teams.slice(0, SHOWN_MAX).map(repairLine),
    ...rest,
  ].join('\n');
}

/** One line for a team. */
export function repairLine(team: RepairedTeam): string {
  const { teamId, name, from, to, usedCharacters, movedCharacters, unknownCharacters, lostUntilDay } = team;
  const bounds = ({ startMs, endMs }: RepairedTeam['from']): string => `${rfc3339(startMs)} to ${rfc3339(endMs)}`;
  const does = team.what === 'reopened' ? 'is open again' : 'is begun';
  return [
    `team ${teamId} ${JSON.stringify(name)}: its period ${bounds(from)} is undone, ${bounds(to)} ${does} with ${usedCharacters} characters`,
    movedCharacters > 0 ? `${movedCharacters} characters that were counted on days to come are counted today` : '',
    unknownCharacters > 0 ? `${unknownCharacters} characters are counted for its first key, because it is not known whose they were` : '',
    lostUntilDay === undefined ? '' : `days until ${dateOf(lostUntilDay)} may have been deleted, and can only be restored from a backup`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

/** The same for programs. */
export function repairReport(team: RepairedTeam): Record<string, unknown> {
  const { teamId, name, what, from, to, usedCharacters, movedCharacters, unknownCharacters, lostUntilDay } = team;
  const bounds = ({ startMs, endMs }: RepairedTeam['from']) => ({ period_start: rfc3339(startMs), period_end: rfc3339(endMs) });
  return {
    team_id: teamId,
    name,
    what,
    from: bounds(from),
    to: bounds(to),
    character_count: usedCharacters,
    moved_characters: movedCharacters,
    unknown_characters: unknownCharacters,
    lost_until: lostUntilDay === undefined ? null : dateOf(lostUntilDay),
  };
}
