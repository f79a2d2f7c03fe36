// Turns a Redis server's own append-only file into the journal: what each script run wrote, per id, key and place.
import { REMEMBER_MS } from '../../../../src/domain/reservation.ts';
import type { Counters, Ended, Operation, Reserved } from '../../../support/history.ts';
import { readAof } from './aof-file.ts';
import type { Command } from './aof-file.ts';

/** As src/stores/redis/lua/books.lua numbers them in the scores of `:seen`. */
const STANDS = ['committed', 'released', 'expired'] as const;
const KEY = /^lingate:\{([^}]+)\}:(.+)$/;

/**
 * Operations on teams, in the order in which the server ran them. A script may run several at one moment, of several teams:
 * then a team's first entries tell of its places and uses, one each, and its last of all that became of ids and counters.
 */
export function redisJournal(directory: string): Operation[] {
  return readAof(directory).flatMap((commands) => {
    const byTeam = Map.groupBy(commands, ([, key = '']) => KEY.exec(key)?.[1]);
    return [...byTeam].flatMap(([teamId, own]) => (teamId === undefined ? [] : operationsOf(teamId, own)));
  });
}

interface Draft {
  readonly reserved: Reserved[];
  readonly ended: Ended[];
  readonly counters: { -readonly [K in keyof Counters]: Counters[K] };
  readonly places: number[];
  readonly lastUses: { readonly keyId: string; readonly atMs: number }[];
  revokedKeyId?: string;
}

function operationsOf(teamId: string, commands: readonly Command[]): Operation[] {
  const draft: Draft = { reserved: [], ended: [], counters: {}, places: [], lastUses: [] };
  for (const command of commands) take(draft, command);
  const { places, lastUses, revokedKeyId, reserved, ended, counters } = draft;
  const nothing = { teamId, reserved: [], ended: [], counters: {} };
  // The last use is stamped by every admission of an active key; without a place all of them were turned away.
  const throttled = places.length === 0 && lastUses.length > 0 ? { throttledAtMs: lastUses[0]!.atMs } : {};
  return [
    ...places.map((placedAtMs) => ({ ...nothing, placedAtMs })),
    ...lastUses.map((lastUse) => ({ ...nothing, lastUse })),
    { teamId, reserved, ended, counters, ...throttled, ...(revokedKeyId === undefined ? {} : { revokedKeyId }) },
  ];
}

function take(draft: Draft, [word = '', key = '', ...values]: Command): void {
  const part = KEY.exec(key)?.[2] ?? '';
  const verb = word.toUpperCase();
  if (verb === 'HSET') for (const [field, value] of pairs(values)) takeField(draft, part, field, value);
  else if (verb === 'HDEL' && part === 'open') for (const field of values) dropField(draft, field);
  else if (verb === 'ZADD' && part === 'seen') for (const [score, id] of pairs(values)) takeEnd(draft, Number(score), id);
  else if (verb === 'RPUSH' && part === 'window') draft.places.push(...values.map(Number));
  else if (verb === 'DEL' && part === 'window') refuseSteppedClock();
}

function takeField(draft: Draft, part: string, field: string, value: string): void {
  const { counters } = draft;
  if (part === 'team') {
    if (field.startsWith('u:')) draft.lastUses.push({ keyId: field.slice(2), atMs: Number(value) });
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

/** Only then is the window written anew: every place is moved along with the clock. */
function refuseSteppedClock(): never {
  throw new Error('the clock of this machine stepped back during a run, and times cannot be judged: run it again');
}

function pairs(values: readonly string[]): [string, string][] {
  return Array.from({ length: values.length / 2 }, (_, index) => [values[2 * index]!, values[2 * index + 1]!]);
}
