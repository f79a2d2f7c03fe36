// Parses ids and keys given on the command line.
import { matchesKeyPattern } from '../domain/api-key.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { noId } from '../admin/operation.ts';
import { CommandFailure } from './command.ts';
import type { CommandContext, Flag } from './command.ts';

/** The value of a flag, if it was given. */
export function given<T>(context: CommandContext, flag: string, read: (flag: string, value: string) => T): T | undefined {
  const value = context.text(flag);
  return value === undefined ? undefined : read(flag, value);
}

/** An id in its canonical form. */
export function readId(kind: 'team' | 'key', value: string): string {
  const id = canonicalUlid(value);
  if (id === undefined) throw new CommandFailure(noId(kind, value).named);
  return id;
}

export const TEAM_FLAG: Flag = { kind: 'text', value: 'TEAM', summary: 'the id of the team', required: true };

export function readTeam(_flag: string, value: string): string {
  return readId('team', value);
}

/** Of a command whose one operand is a team. */
export function teamOperand({ operands }: CommandContext): string {
  return readId('team', operands[0]!);
}

/** Reads a whole key from standard input. Errors do not repeat it. */
export async function readKey({ io }: CommandContext): Promise<string> {
  const key = await io.secret('Key (it is not shown): ');
  if (matchesKeyPattern(key)) return key;
  const wrong = key === '' ? 'standard input is empty' : 'standard input does not contain a key';
  throw new CommandFailure(`${wrong}: give one whole key, la_live_ or la_test_ and 40 letters and digits`);
}
