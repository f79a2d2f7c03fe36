// Turns a Redis server's own append-only file into the journal: what each script wrote, per id, key and slot of the window.
import { REMEMBER_MS } from '../../../../src/index.ts';
import { BOOKS, readKeyState } from '../../../../src/stores/redis/team-layout.ts';
import type { Counters, Ended, Operation, Reserved } from '../../../support/history.ts';
import { readAof } from './aof-file.ts';
import type { Command } from './aof-file.ts';

/** The state of an id, as src/stores/redis/lua/layout.lua numbers it; the first is open. */
const STANDS = [undefined, 'committed', 'released', 'expired'] as const;
const KEY = /^lingate:\{([^}]+)\}:(.+)$/;
const TIME_BYTES = 6;

/** The last use of each key, which is written again with every other change of the key. */
type LastUses = Map<string, number>;

/**
 * Operations on teams, in the order in which the server ran them. A script may run several at once, of several teams:
 * then a team's first entries are its slots and uses, one each, and its last the result for all ids and counters.
 */
export function redisJournal(directory: string): Operation[] {
  const known: LastUses = new Map();
  return readAof(directory).flatMap((commands) => {
    const byTeam = Map.groupBy(commands, ([, key = '']) => KEY.exec(key)?.[1]);
    return [...byTeam].flatMap(([teamId, own]) => (teamId === undefined ? [] : operationsOf(teamId, own, known)));
  });
}

/** Whether a field of the hash of ids is an open reservation. One-letter names are not ids. */
export function isOpen(name: string, record: string): boolean {
  return name.length > 1 && record.charCodeAt(0) === 0;
}

interface Draft {
  readonly reserved: Reserved[];
  readonly ended: Ended[];
  readonly counters: { -readonly [K in keyof Counters]: Counters[K] };
  readonly places: number[];
  readonly lastUses: { readonly keyId: string; readonly atMs: number }[];
  readonly known: LastUses;
  revokedKeyId?: string;
}

function operationsOf(teamId: string, commands: readonly Command[], known: LastUses): Operation[] {
  const draft: Draft = { reserved: [], ended: [], counters: {}, places: [], lastUses: [], known };
  for (const command of commands) take(draft, command);
  const { places, lastUses, revokedKeyId, reserved, ended, counters } = draft;
  const nothing = { teamId, reserved: [], ended: [], counters: {} };
  // Every admission of an active key updates the last use; if no slot was taken, all of them were refused.
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
  if (verb === 'HSET' && part === 'team') for (const [field, value] of pairs(values)) takeTeamField(draft, field, bytesOf(value));
  else if (verb === 'HSET' && part === 'ids') for (const [field, value] of pairs(values)) takeRecord(draft, field, bytesOf(value));
  else if (verb === 'RPUSH' && part === 'places') draft.places.push(...values.map((value) => bytesOf(value).readUIntBE(0, TIME_BYTES)));
  else if (verb === 'DEL' && part === 'places') refuseSteppedClock();
}

function takeTeamField(draft: Draft, field: string, value: Buffer): void {
  const { counters, lastUses, known } = draft;
  if (field === 'b') {
    const { usedCharacters, balanceMicro } = BOOKS.read(value);
    Object.assign(counters, { usedCharacters, balanceMicro });
  } else if (field.startsWith('k')) {
    const keyId = field.slice(1);
    const { word, lastUsedAtMs } = readKeyState(value);
    if (word === 'revoked') draft.revokedKeyId = keyId;
    if (lastUsedAtMs === undefined || lastUsedAtMs === known.get(keyId)) return;
    known.set(keyId, lastUsedAtMs);
    lastUses.push({ keyId, atMs: lastUsedAtMs });
  }
}

function takeRecord({ counters, reserved, ended }: Draft, field: string, value: Buffer): void {
  if (field === 'h') {
    counters.heldCharacters = sevenBytes(value, 0);
    counters.heldMicro = sevenBytes(value, 7);
  }
  if (field.length === 1) return;
  const requestId = idOf(bytesOf(field));
  const as = STANDS[value[0]!];
  if (as !== undefined) return void ended.push({ requestId, as, atMs: value.readUIntBE(1, TIME_BYTES) - REMEMBER_MS });
  const [characters, micro, , leaseUntilMs] = [1, 9, 17, 25].map((at) => value.readDoubleBE(at)) as [number, number, number, number];
  reserved.push({ requestId, keyId: value.toString('latin1', 33), characters, micro, leaseUntilMs });
}

/** Only then is the list rewritten: every slot is moved along with the clock. */
function refuseSteppedClock(): never {
  throw new Error('the clock of this machine stepped back during a run, and times cannot be judged: run it again');
}

const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID's 16 bytes, or another id after bytes that no text has. */
function idOf(bytes: Buffer): string {
  if (bytes.length !== 16) return bytes.subarray(bytes.lastIndexOf(0xff) + 1).toString();
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let id = '';
  for (let i = 0; i < 26; i++, value >>= 5n) id = ULID_DIGITS[Number(value & 31n)]! + id;
  return id;
}

function sevenBytes(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at, 3) * 2 ** 32 + bytes.readUInt32BE(at + 3);
}

function bytesOf(word: string): Buffer {
  return Buffer.from(word, 'latin1');
}

function pairs(values: readonly string[]): [string, string][] {
  return Array.from({ length: values.length / 2 }, (_, index) => [values[2 * index]!, values[2 * index + 1]!]);
}
