// Turns a Redis server's own append-only file into the journal: what each script wrote, per reservation, key and slot of the window.
import type { Counters, Ended, Operation, Reserved } from '../../../support/history.ts';
import { DAY_MS } from '../../../support/door/terms.ts';
import { readAof } from './aof-file.ts';
import type { Command } from './aof-file.ts';

const KEY = /^lingate:\{([^}]+)\}(.*)$/;

/** What was written before. */
interface Known {
  /** The last use of each key, which is written again with every other change of the key. */
  readonly uses: Map<string, number>;
  /** The end of each reservation's lease. */
  readonly leases: Map<string, number>;
}

/**
 * Operations on teams, in the order in which the server ran them. A script may run several at once, of several teams:
 * then a team's first entries are its slots and uses, one each, and its last the result for all ids and counters.
 */
export function redisJournal(directory: string): Operation[] {
  const known: Known = { uses: new Map(), leases: new Map() };
  return readAof(directory).flatMap((commands) => {
    const byTeam = Map.groupBy(commands, ([, key = '']) => KEY.exec(key)?.[1]);
    return [...byTeam].flatMap(([teamId, own]) => (teamId === undefined ? [] : operationsOf(teamId, own, known)));
  });
}

/** Whether a field of a team's hash is an open reservation. */
export function isOpen(field: string): boolean {
  return field.startsWith('open:');
}

interface Draft {
  readonly reserved: Reserved[];
  readonly ended: Ended[];
  readonly counters: { -readonly [K in keyof Counters]: Counters[K] };
  readonly places: number[];
  readonly lastUses: { readonly keyId: string; readonly atMs: number }[];
  readonly known: Known;
  /** The days of commits that were counted: the reservation that ends next was committed. */
  readonly charged: number[];
  /** What ends leases also writes when the next one ends. */
  readonly endsLeases: boolean;
  revokedKeyId?: string;
}

function operationsOf(teamId: string, commands: readonly Command[], known: Known): Operation[] {
  const draft: Draft = {
    reserved: [],
    ended: [],
    counters: {},
    places: [],
    lastUses: [],
    known,
    charged: [],
    endsLeases: commands.some(isOfLeases),
  };
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
  if (verb === 'HSET' && part === '') for (const [field, value] of pairs(values)) takeField(draft, field, value);
  else if (verb === 'HINCRBY' && part === ':days' && values[0]!.endsWith(' requests')) draft.charged.push(Number(values[0]!.split(' ')[0]));
  else if (verb === 'HDEL' && part === '') for (const field of values.filter(isOpen)) takeEnd(draft, field.slice('open:'.length));
  else if (verb === 'RPUSH' && part === ':slots:team') draft.places.push(...values.map(Number));
  else if (verb === 'DEL' && part === ':slots:team') refuseSteppedClock();
}

function takeField(draft: Draft, field: string, value: string): void {
  const { counters, reserved, lastUses, known } = draft;
  if (field === 'count:team:period') {
    const { used, held } = JSON.parse(value) as { readonly used: number; readonly held: number };
    Object.assign(counters, { usedCharacters: used, heldCharacters: held });
  } else if (field === 'balance') {
    const { micro, held } = JSON.parse(value) as { readonly micro: number; readonly held: number };
    Object.assign(counters, { balanceMicro: micro, heldMicro: held });
  } else if (isOpen(field)) {
    const open = JSON.parse(value) as { readonly key: string; readonly characters: number; readonly price: number; readonly until: number };
    const { key: keyId, characters, price: micro, until: leaseUntilMs } = open;
    known.leases.set(field.slice('open:'.length), leaseUntilMs);
    reserved.push({ requestId: field.slice('open:'.length), keyId, characters, micro, leaseUntilMs });
  } else if (field.startsWith('key:')) {
    if ((JSON.parse(value) as { readonly status: string }).status === 'revoked') draft.revokedKeyId = field.slice('key:'.length);
  } else if (field.startsWith('used:')) {
    const [keyId, atMs] = [field.slice('used:'.length), Number(value)];
    if (atMs === known.uses.get(keyId)) return;
    known.uses.set(keyId, atMs);
    lastUses.push({ keyId, atMs });
  }
}

/** A commit is counted for its day before its reservation goes; the file says no more of when it was, and nothing of a release. */
function takeEnd({ ended, charged, endsLeases, known }: Draft, requestId: string): void {
  const day = charged.shift();
  if (day !== undefined) ended.push({ requestId, as: 'committed', atMs: day * DAY_MS });
  else if (endsLeases) ended.push({ requestId, as: 'expired', atMs: known.leases.get(requestId) ?? 0 });
  else ended.push({ requestId, as: 'released', atMs: 0 });
}

/** Admissions write it with their reservation, and never remove any. */
function isOfLeases([word = '', key = '', ...values]: Command, _at: number, all: readonly Command[]): boolean {
  const isOfTeam = KEY.exec(key)?.[2] === '' && values.includes('lease');
  return isOfTeam && (word.toUpperCase() === 'HDEL' || !all.some((other) => other.includes('lease') && other.some(isOpen)));
}

/** Only then is the list rewritten: every slot is moved along with the clock. */
function refuseSteppedClock(): never {
  throw new Error('the clock of this machine stepped back during a run, and times cannot be judged: run it again');
}

function pairs(values: readonly string[]): [string, string][] {
  return Array.from({ length: values.length / 2 }, (_, index) => [values[2 * index]!, values[2 * index + 1]!]);
}
