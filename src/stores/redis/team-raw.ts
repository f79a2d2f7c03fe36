// A team's data read atomically, decoded: request ids, the head of its books, and its rate window.
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import type { RequestContents, RequestState, TeamContents } from '../../ports/store-contents.ts';
import { readRequestId } from './request-id-bytes.ts';
import { readWide, writeWide } from './team-layout.ts';

const STATES: readonly RequestState[] = ['open', 'committed', 'released', 'expired'];
const DOUBLE = 8;
const OPEN_KEY_AT = 1 + 4 * DOUBLE;

/** A request id that is open or remembered (lua/layout.lua: `OPEN`, `DONE`). */
export function readRequest(id: Buffer, record: Buffer): RequestContents {
  const requestId = readRequestId(id);
  const state = STATES[record[0]!];
  if (state === undefined) throw new Error('a request has an unknown state');
  if (state !== 'open') {
    const untilMs = record.readUIntBE(1, 6);
    return { requestId, state, untilMs, keyId: undefined, characters: 0, priceMicro: 0, periodNumber: undefined };
  }
  const [characters, priceMicro, periodNumber, untilMs] = [0, 1, 2, 3].map((i) => record.readDoubleBE(1 + DOUBLE * i)) as [
    number,
    number,
    number,
    number,
  ];
  return { requestId, state, untilMs, keyId: String(record.subarray(OPEN_KEY_AT)), characters, priceMicro, periodNumber };
}

export function packRequest({ state, untilMs, keyId, characters, priceMicro, periodNumber }: RequestContents): Buffer {
  if (state !== 'open') {
    const packed = Buffer.alloc(7);
    packed.writeUInt8(STATES.indexOf(state));
    packed.writeUIntBE(untilMs, 1, 6);
    return packed;
  }
  const packed = Buffer.alloc(OPEN_KEY_AT);
  for (const [i, number] of [characters, priceMicro, periodNumber ?? 0, untilMs].entries()) packed.writeDoubleBE(number, 1 + DOUBLE * i);
  return Buffer.concat([packed, Buffer.from(keyId ?? '')]);
}

/** The parts of the head (lua/layout.lua: `HEAD`) that are used outside of the functions. */
export interface BooksHead {
  readonly heldCharacters: number;
  readonly heldMicro: number;
  /** The period of `heldCharacters`. */
  readonly number: number;
  readonly newestMs: number;
  /** 0 makes the functions compare the head with the list before they use it. */
  readonly lateMs: number;
  readonly expiresMs: number;
  readonly length: number;
  readonly passed: number;
}

const HEAD_BYTES = 62;
const NEVER = 281_474_976_710_655;
const LONGEST = 4_294_967_295;

export function readHead(packed: Buffer): BooksHead {
  if (packed.length !== HEAD_BYTES) throw new Error('the head has the wrong length');
  return {
    heldCharacters: readWide(packed, 0),
    heldMicro: readWide(packed, 7),
    number: packed.readUInt32BE(14),
    newestMs: packed.readUIntBE(18, 6),
    lateMs: packed.readUIntBE(24, 6),
    expiresMs: packed.readUIntBE(30, 6),
    length: packed.readUInt32BE(44),
    passed: packed.readUInt32BE(48),
  };
}

/** A head that makes the functions count the slots in the list and check what is due before they use it. */
export function packHead({
  heldCharacters,
  heldMicro,
  number,
  newestMs,
  expiresMs,
}: Omit<BooksHead, 'lateMs' | 'length' | 'passed'>): Buffer {
  const packed = Buffer.alloc(HEAD_BYTES);
  writeWide(packed, heldCharacters, 0);
  writeWide(packed, heldMicro, 7);
  packed.writeUInt32BE(number, 14);
  packed.writeUIntBE(newestMs, 18, 6);
  packed.writeUIntBE(expiresMs, 30, 6);
  packed.writeUIntBE(NEVER, 52, 6);
  packed.writeUInt32BE(LONGEST, 58);
  return packed;
}

/** A slot is its time, followed by its request id. */
export const SLOT_BYTES = 6;

/** The slots that count when the newest was taken, oldest first. */
export function readWindow(slots: readonly Buffer[], newestMs: number): TeamContents['window'] {
  const window: { atMs: number; count: number }[] = [];
  for (const slot of slots) {
    const atMs = slot.readUIntBE(0, SLOT_BYTES);
    if (newestMs - atMs >= RATE_WINDOW_MS) continue;
    const last = window.at(-1);
    if (last?.atMs === atMs) last.count++;
    else window.push({ atMs, count: 1 });
  }
  return window;
}

/** A list entry for each slot of the window, without a request id. */
export function packSlots(window: TeamContents['window']): Buffer[] {
  return window.flatMap(({ atMs, count }) => {
    const slot = Buffer.alloc(SLOT_BYTES);
    slot.writeUIntBE(atMs, 0, SLOT_BYTES);
    return Array.from({ length: count }, () => slot);
  });
}
