// Parses ids, names, amounts, reasons, days and keys given on the command line.
import { matchesKeyPattern } from '../domain/api-key.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { MINOR_MAX } from '../domain/money.ts';
import { judgeReason, judgeRecordName, judgeReference } from '../domain/record-name.ts';
import type { JudgedText } from '../domain/record-name.ts';
import { noId } from '../admin/operation.ts';
import { isPlanTime, PLAN_TIMES } from '../admin/team-terms.ts';
import type { PlanTime } from '../admin/team-terms.ts';
import { CommandFailure, UsageError } from './command.ts';
import type { CommandContext, Flag } from './command.ts';

/** The value of a flag, if it was given. */
export function given<T>(context: CommandContext, flag: string, read: (flag: string, value: string) => T): T | undefined {
  const value = context.text(flag);
  return value === undefined ? undefined : read(flag, value);
}

/** A name or label: short and printable. */
export const readName = textBy(judgeRecordName);

export const readReference = textBy(judgeReference);

export const readReason = textBy(judgeReason);

function textBy(judge: (value: string) => JudgedText): (flag: string, value: string) => string {
  return (flag, value) => {
    const judged = judge(value);
    if ('fault' in judged) throw new UsageError(`--${flag} ${judged.fault}`);
    return judged.text;
  };
}

export const WHEN: Flag = {
  kind: 'text',
  value: 'TIME',
  summary: 'now, next-period (when the period ends), or never (takes back what waits)',
  fallback: 'now',
};

export function readPlanTime(flag: string, value: string): PlanTime {
  if (isPlanTime(value)) return value;
  throw new UsageError(`--${flag} ${JSON.stringify(value)} must be one of ${PLAN_TIMES.join(', ')}`);
}

/** An amount in minor units of a currency. */
export function readMinor(flag: string, value: string): number {
  const amount = readMinorOf(value);
  if (amount !== undefined) return amount;
  const range = `a whole number of minor units from 0 to ${MINOR_MAX}`;
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
