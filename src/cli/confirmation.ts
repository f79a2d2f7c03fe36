// Asks before a command does what cannot be undone: the operator types a name at the terminal, or gave --yes.
import type { AdminResult } from '../admin/admin-result.ts';
import { dearerText, minorText } from '../admin/dearer-text.ts';
import { CommandFailure, UsageError } from './command.ts';
import type { CommandContext, Flag } from './command.ts';

/** The switch that answers every question in advance. */
export const YES: Flag = { kind: 'switch', summary: 'do not ask; required without a terminal' };

/** The same where only what makes a running period dearer is asked about. */
export const YES_DEARER: Flag = {
  kind: 'switch',
  summary: 'do not ask if it makes running periods dearer; then required without a terminal',
};

export interface Confirmation {
  /** What will happen, as a sentence (`This deletes the team "Press" permanently.`) or as lines, each with its end. */
  readonly does: string;
  /** What the operator types to go on. */
  readonly word: string;
  /** What `word` is: `its name`. */
  readonly wordIs: string;
}

/**
 * Called before anything is opened. `what` is the command as the message names it. Throws a `UsageError` if nobody can be asked:
 * a script that lost its terminal must not delete what a person would have been asked about.
 */
export function requireConfirmable(context: CommandContext, what: string): void {
  if (context.on('yes') || context.io.asks) return;
  throw new UsageError(`${what} asks before it changes anything, and there is no terminal to ask at; use --yes as well`);
}

/** Throws a `CommandFailure`, with nothing done, if the operator types something else. */
export async function confirm(context: CommandContext, { does, word, wordIs }: Confirmation): Promise<void> {
  if (context.on('yes')) return;
  const answer = await context.io.line(`${does}${does.endsWith('\n') ? '' : ' '}Type ${wordIs} to continue: `);
  if (answer !== word) throw new CommandFailure(`this is not ${JSON.stringify(word)}; nothing was changed`);
}

/**
 * Runs a change of plan; if it would make running periods dearer, asks before it runs it again as confirmed. Throws a `UsageError` if
 * nobody can be asked.
 */
export async function confirmedDearer<T>(
  context: CommandContext,
  plan: string,
  change: (confirmed: boolean) => Promise<AdminResult<T>>,
): Promise<AdminResult<T>> {
  const result = await change(context.on('yes'));
  if (result.kind !== 'dearer') return result;
  const does = dearerText(result.dearer, minorText(result.currency));
  if (!context.io.asks) throw new UsageError(`nothing was changed: this ${does}; use --yes as well, or --when next-period`);
  await confirm(context, { does: `This ${does}.`, word: plan, wordIs: "the plan's name" });
  return change(true);
}
