// The part of lingate store check --repair that an operator sees: what would be done to each team, the question, and the report.
import type { RepairedTeam, RepairPlan } from '../../app/store-upkeep.ts';
import type { Config } from '../../config/config.ts';
import { dateOf } from '../../domain/usage-days.ts';
import { rfc3339 } from '../../domain/period.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { CommandContext } from '../command.ts';
import { whereNoStore } from '../with-store.ts';

/** What the operator types to go on. */
const WORD = 'repair';
/** Any more teams are only counted. */
const SHOWN_MAX = 1000;

/** What was done, for the report of the command. Throws a `UsageError` before anything is read if nobody can be asked. */
export async function repairedTeams(context: CommandContext, config: Config): Promise<readonly RepairedTeam[]> {
  const { io } = context;
  if (!context.on('yes') && !io.asks) {
    throw new UsageError('--repair asks before it changes anything, and there is no terminal to ask at; use --yes as well');
  }
  const { repairStoreAt } = await import('../../app/store-upkeep.ts');
  const confirm = async (plan: RepairPlan): Promise<boolean> => {
    if (context.on('yes')) return true;
    io.err(`${planText(plan)}\n`);
    const answer = await io.line(`Type ${WORD} to do this: `);
    if (answer !== WORD) throw new CommandFailure(`this is not "${WORD}"; nothing was changed`);
    return true;
  };
  return repairStoreAt({ url: config.store, historyDays: config.history.days, confirm }).catch(whereNoStore(config));
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
