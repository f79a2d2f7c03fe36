// What commands ask of people: ids and keys, and a word before what cannot be undone.
import { noId } from '../admin/operation.ts';
import type { AskedBefore } from '../admin/operation.ts';
import { matchesKeyPattern } from '../domain/api-key.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { CommandFailure, UsageError } from './command.ts';
import type { CommandContext, Flag } from './command.ts';

/** An id in its canonical form. */
export function readId(kind: 'team' | 'key', value: string): string {
  const id = canonicalUlid(value);
  if (id === undefined) throw new CommandFailure(noId(kind, value).named);
  return id;
}

/** The team of `--team`, if it was given. */
export function givenTeam(context: CommandContext): string | undefined {
  const value = context.text('team');
  return value === undefined ? undefined : readId('team', value);
}

/** Reads a whole key from standard input. Errors do not repeat it. */
export async function readKey({ io }: CommandContext): Promise<string> {
  const key = await io.secret('Key (it is not shown): ');
  if (matchesKeyPattern(key)) return key;
  const wrong = key === '' ? 'standard input is empty' : 'standard input does not contain a key';
  throw new CommandFailure(`${wrong}: give one whole key, la_live_ or la_test_ and 40 letters and digits`);
}

/** The switch that answers every question in advance. */
export const YES: Flag = { summary: 'do not ask; required without a terminal' };

/** The same where it asks only about what makes a running period costlier. */
export const YES_COSTLIER: Flag = {
  summary: 'do not ask if it makes running periods costlier; then required without a terminal',
};

/**
 * Before anything is opened. `what` is the command in messages. Throws a `UsageError`: a script
 * that lost its terminal must not delete what a person would have been asked about.
 */
export function requireConfirmable(context: CommandContext, what: string): void {
  if (context.on('yes') || context.io.asks) return;
  throw new UsageError(`${what} asks before it changes anything, and there is no terminal to ask at; use --yes as well`);
}

/** `does` may be lines. Throws a `CommandFailure`, with nothing done, for another answer. */
export async function confirm(context: CommandContext, { does, word, wordIs }: AskedBefore): Promise<void> {
  if (context.on('yes')) return;
  const answer = await context.io.line(`${does}${does.endsWith('\n') ? '' : ' '}Type ${wordIs} to continue: `);
  if (answer !== word) throw new CommandFailure(`this is not ${JSON.stringify(word)}; nothing was changed`);
}
