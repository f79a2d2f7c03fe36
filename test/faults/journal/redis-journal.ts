// Turns a Redis server's own append-only file into the journal: what each script run wrote, per id, key and place.
import { REMEMBER_MS } from '../../../src/domain/reservation.ts';
import type { Counters, Ended, Operation, Reserved } from '../../support/history.ts';
import { readAof } from './aof-file.ts';
import type { Command } from './aof-file.ts';

/** As src/stores/redis/lua/books.lua numbers them in the scores of `:seen`. */
const STANDS = ['committed', 'released', 'expired'] as const;
const KEY = /^lingate:\{([^}]+)\}:(.+)$/;

/** Operations on teams, in the order in which the server ran them. */
export function redisJournal(directory: string): Operation[] {
  return readAof(directory).flatMap((commands) => {
    const teamId = teamOf(commands);
    return teamId === undefined ? [] : [operationOf(teamId, commands)];
  });
}

function teamOf(commands: readonly Command[]): string | undefined {
  const teams = new Set(commands.flatMap(([, key = '']) => KEY.exec(key)?.[1] ?? []));
  if (teams.size > 1) throw new Error(`one operation wrote to several teams: ${[...teams].join(', ')}`);
  return [...teams][0];
}

interface Draft {
  readonly reserved: Reserved[];
  readonly ended: Ended[];
  readonly counters: { -readonly [K in keyof Counters]: Counters[K] };
  placedAtMs?: number;
  lastUse?: { keyId: string; atMs: number };
  revokedKeyId?: string;
}

function operationOf(teamId: string, commands: readonly Command[]): Operation {
  const draft: Draft = { reserved: [], ended: [], counters: {} };
  for (const command of commands) take(draft, command);
  const { placedAtMs, lastUse, revokedKeyId, reserved, ended, counters } = draft;
  return {
    teamId,
    reserved,
    ended,
    counters,
    ...(placedAtMs === undefined ? {} : { placedAtMs }),
    ...(lastUse === undefined ? {} : { lastUse }),
    // The last use is stamped by every admission of an active key; without a place it was turned away.
    ...(lastUse !== undefined && placedAtMs === undefined ? { throttledAtMs: lastUse.atMs } : {}),
    ...(revokedKeyId === undefined ? {} : { revokedKeyId }),
  };
}

function take(draft: Draft, [word = '', key = '', ...values]: Command): void {
  const part = KEY.exec(key)?.[2] ?? '';
  const verb = word.toUpperCase();
  if (verb === 'HSET') for (const [field, value] of pairs(values)) takeField(draft, part, field, value);
  else if (verb === 'HDEL' && part === 'open') for (const field of values) dropField(draft, field);
  else if (verb === 'ZADD' && part === 'seen') for (const [score, id] of pairs(values)) takeEnd(draft, Number(score), id);
  else if (verb === 'RPUSH' && part === 'window') takePlaces(draft, values);
}

function takeField(draft: Draft, part: string, field: string, value: string): void {
  const { counters } = draft;
  if (part === 'team') {
    if (field.startsWith('u:')) draft.lastUse = { keyId: field.slice(2), atMs: Number(value) };
    if (field.startsWith('k:') && value === 'revoked') draft.revokedKeyId = field.slice(2);
    if (field === 'balance') counters.balanceMicro = Number(value);
  } else if (part === 'open') {
    if (field.startsWith('r:')) draft.reserved.push(reservedOf(field.slice(2), value));
    if (field.startsWith('held:')) counters.heldCharacters = Number(value);
    if (field === 'micro') counters.heldMicro = Number(value);
  } else if (part.startsWith('use:') && field === 'characters') {
    counters.usedCharacters = Number(value);
  }
}

function reservedOf(requestId: string, record: string): Reserved {
  const [characters, micro, , leaseUntilMs, keyId = ''] = record.split(' ');
  return { requestId, keyId, characters: Number(characters), micro: Number(micro), leaseUntilMs: Number(leaseUntilMs) };
}

/** Counters that are 0 are left out of the store. */
function dropField({ counters }: Draft, field: string): void {
  if (field.startsWith('held:')) counters.heldCharacters = 0;
  if (field === 'micro') counters.heldMicro = 0;
}

function takeEnd({ ended }: Draft, score: number, requestId: string): void {
  const as = STANDS[score % 4];
  // The entry that keeps the set alive has no end.
  if (as !== undefined) ended.push({ requestId, as, atMs: Math.floor(score / 4) - REMEMBER_MS });
}

/** One place is one admission; several at once are the window moved along with a clock that stepped back. */
function takePlaces(draft: Draft, places: readonly string[]): void {
  if (places.length > 1) throw new Error('the clock of this machine stepped back during a run, and times cannot be judged: run it again');
  draft.placedAtMs = Number(places[0]);
}

function pairs(values: readonly string[]): [string, string][] {
  return Array.from({ length: values.length / 2 }, (_, index) => [values[2 * index]!, values[2 * index + 1]!]);
}
