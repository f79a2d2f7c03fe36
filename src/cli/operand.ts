// Parses ids, names, amounts, reasons, days and keys given on the command line.
import { matchesKeyPattern } from '../domain/api-key.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { MINOR_MAX } from '../domain/money.ts';
import { DAY_MS } from '../domain/period.ts';
import { judgeReason } from '../domain/reason.ts';
import { judgeRecordName } from '../domain/record-name.ts';
import { dayOfDate } from '../domain/usage-days.ts';
import type { CommandContext } from './command.ts';
import { CommandFailure, UsageError } from './command.ts';

/** A name or label: short and printable. */
export function readName(flag: string, value: string): string {
  const judged = judgeRecordName(value);
  if ('fault' in judged) throw new UsageError(`--${flag} ${judged.fault}`);
  return judged.name;
}

/** An amount in minor units of a currency. */
export function readMinor(flag: string, value: string, least: number): number {
  const amount = readMinorOf(value);
  if (amount !== undefined && amount >= least) return amount;
  const range = `a whole number of minor units from ${least} to ${MINOR_MAX}`;
  throw new UsageError(`--${flag} ${JSON.stringify(value)} is not ${range}`);
}

/** An amount to add, or a negative one to deduct. */
export function readMinorChange(flag: string, value: string): number {
  const taken = value.startsWith('-');
  const amount = readMinorOf(taken ? value.slice(1) : value);
  if (amount !== undefined && amount >= 1) return taken ? -amount : amount;
  const range = `a whole number of minor units up to ${MINOR_MAX}, negative to deduct credit, and not 0`;
  throw new UsageError(`--${flag} ${JSON.stringify(value)} is not ${range}`);
}

function readMinorOf(value: string): number | undefined {
  const amount = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  return amount !== undefined && amount <= MINOR_MAX ? amount : undefined;
}

export function readReason(flag: string, value: string): string {
  const judged = judgeReason(value);
  if ('fault' in judged) throw new UsageError(`--${flag} ${judged.fault}`);
  return judged.reason;
}

/** A UTC day, as the moment at which it begins. */
export function readDay(flag: string, value: string): number {
  const day = dayOfDate(value);
  if (day === undefined)
    throw new UsageError(`--${flag} ${JSON.stringify(value)} is not a day in the form YYYY-MM-DD, for example 2026-11-22`);
  return day * DAY_MS;
}

/** An id in its canonical form. `where` says how to find a valid one. */
export function readId(kind: 'team' | 'key' | 'glossary', value: string, where: string): string {
  const id = canonicalUlid(value);
  if (id === undefined) throw new CommandFailure(`${JSON.stringify(value)} is not a ${kind}'s id; ${where}`);
  return id;
}

/** Reads a whole key from standard input. Errors do not repeat it. */
export async function readKey({ io }: CommandContext): Promise<string> {
  const key = await io.secret('Key (it is not shown): ');
  if (matchesKeyPattern(key)) return key;
  const wrong = key === '' ? 'standard input is empty' : 'standard input does not contain a key';
  throw new CommandFailure(`${wrong}: give one whole key, la_live_ or la_test_ and 40 letters and digits`);
}
