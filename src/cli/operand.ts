// Checks what people type as ids, names, amounts and modes.
import { countCharacters } from '../domain/characters.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { MINOR_MAX } from '../domain/money.ts';
import { CommandFailure, UsageError } from './failure.ts';

const NAME_CHARACTERS_MAX = 100;
/** Control characters, line breaks, and marks that turn the direction of what follows: none is fit for a table. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** A name or label: short and printable. */
export function readName(flag: string, value: string): string {
  const name = value.trim();
  if (name === '') throw new UsageError(`--${flag} is blank; give it a name`);
  if (countCharacters(name) > NAME_CHARACTERS_MAX)
    throw new UsageError(`--${flag} is too long; it may have at most ${NAME_CHARACTERS_MAX} characters`);
  if (UNPRINTABLE.test(name)) throw new UsageError(`--${flag} holds a control character; use printable characters only`);
  return name;
}

/** An amount in minor units of a currency. */
export function readMinor(flag: string, value: string, least: number): number {
  const amount = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  if (amount !== undefined && amount >= least && amount <= MINOR_MAX) return amount;
  const range = `a whole number of minor units from ${least} to ${MINOR_MAX}`;
  throw new UsageError(`--${flag} ${JSON.stringify(value)} is not ${range}`);
}

/** An id in its canonical form. `where` says how to find a right one. */
export function readId(kind: 'team' | 'key', value: string, where: string): string {
  const id = canonicalUlid(value);
  if (id === undefined) throw new CommandFailure(`${JSON.stringify(value)} is not a ${kind}'s id; ${where}`);
  return id;
}
