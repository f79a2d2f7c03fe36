// Asks before a command does what cannot be undone: the operator types a name at the terminal, or gave --yes.
import type { AskedBefore } from '../admin/operation.ts';
import { CommandFailure, UsageError } from './command.ts';
import type { CommandContext, Flag } from './command.ts';

/** The switch that answers every question in advance. */
export const YES: Flag = { kind: 'switch', summary: 'do not ask; required without a terminal' };

/** The same where it asks only about what makes a running period costlier. */
export const YES_COSTLIER: Flag = {
  kind: 'switch',
  summary: 'do not ask if it makes running periods costlier; then required without a terminal',
};

/**
 * Called before anything is opened. `what` is the command as the message names it. Throws a `UsageError` if nobody can be asked:
 * a script that lost its terminal must not delete what a person would have been asked about.
 */
export function requireConfirmable(context: CommandContext, what: string): void {
  if (context.on('yes') || context.io.asks) return;
  throw new UsageError(`${what} asks before it changes anything, and there is no terminal to ask at; use --yes as well`);
}

/** `does` may be lines, each with its end. Throws a `CommandFailure`, with nothing done, if the operator types something else. */
export async function confirm(context: CommandContext, { does, word, wordIs }: AskedBefore): Promise<void> {
  if (context.on('yes')) return;
  const answer = await context.io.line(`${does}${does.endsWith('\n') ? '' : ' '}Type ${wordIs} to continue: `);
  if (answer !== word) throw new CommandFailure(`this is not ${JSON.stringify(word)}; nothing was changed`);
}
