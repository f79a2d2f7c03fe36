// A team's data read atomically, decoded: request ids, the head of its books, and its rate window.
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import { tagSubject } from '../../domain/window-limits.ts';
import type { RequestContents, RequestState, TeamContents } from '../../ports/store-contents.ts';
import { readRequestId } from './request-id-bytes.ts';
import { ROWS } from './row-formats.ts';
import { packTickets, readTickets } from './window-layout.ts';

const STATES: readonly RequestState[] = ['open', 'committed', 'released', 'expired'];
/** What an open one adds if it was counted in windows, if it is of the allowance for test keys, and if it has a tag (lua/layout.lua). */
const OPEN_COUNTED = 4;
const OF_ALLOWANCE = 8;
const WITH_TAG = 16;
const { OPEN, DONE, HEAD, SLOT, TICKETS, TAGGED } = ROWS;
const NEVER = 281_474_976_710_655;
const LONGEST = 4_294_967_295;

/** A request id that is open or remembered (`OPEN`, `DONE`). */
export function readRequest(id: Buffer, record: Buffer): RequestContents {
  const requestId = readRequestId(id);
  const word = record[0]!;
  const ofAllowance = (word & OF_ALLOWANCE) !== 0;
  const isCounted = (word & OPEN_COUNTED) !== 0;
  const state = isOpenRecord(record) ? 'open' : STATES[word];
  if (state === undefined) throw new Error('a request has an unknown state');
  if (state !== 'open') {
    const { untilMs } = DONE.read(record);
    return { requestId, state, untilMs, keyId: undefined, characters: 0, priceMicro: 0, periodNumber: undefined, ofAllowance };
  }
  const { characters, priceMicro, periodNumber, untilMs } = OPEN.read(record);
  const tagged = (word & WITH_TAG) === 0 ? undefined : TAGGED.read(record.subarray(-TAGGED.bytes));
  const tagAt = record.length - (tagged === undefined ? 0 : TAGGED.bytes + tagged.length);
  const keyId = String(record.subarray(OPEN.bytes + (isCounted ? TICKETS.bytes : 0), tagAt));
  const name = String(record.subarray(tagAt, tagAt + (tagged?.length ?? 0)));
  const tag = tagged === undefined ? {} : { tag: { name, distinctMax: tagged.distinctMax } };
  const ofTag = tagged === undefined || tagged.ticket === 0 ? undefined : { [tagSubject(name)]: tagged.ticket };
  const tickets = isCounted ? { ...readTickets(record.subarray(OPEN.bytes), keyId), ...ofTag } : ofTag;
  const counted = tickets === undefined ? {} : { tickets };
  return { requestId, state, untilMs, keyId, characters, priceMicro, periodNumber, ofAllowance, ...counted, ...tag };
}

/** Whether a request id of this record is open. */
export function isOpenRecord(record: Buffer): boolean {
  return (record[0]! & ~(OF_ALLOWANCE | OPEN_COUNTED | WITH_TAG)) === 0;
}

export function packRequest(request: RequestContents): Buffer {
  const { state: word, untilMs, keyId = '', characters, priceMicro, periodNumber = 0, ofAllowance, tickets, tag } = request;
  if (word !== 'open') return DONE.pack({ state: STATES.indexOf(word), untilMs });
  const state = (tickets === undefined ? 0 : OPEN_COUNTED) + (ofAllowance ? OF_ALLOWANCE : 0) + (tag === undefined ? 0 : WITH_TAG);
  const counted = tickets === undefined ? [] : [packTickets(tickets, keyId)];
  return Buffer.concat([
    OPEN.pack({ state, characters, priceMicro, periodNumber, untilMs }),
    ...counted,
    Buffer.from(keyId),
    ...packTag(tag, tickets),
  ]);
}

/** At the end of the record. */
function packTag(tag: RequestContents['tag'], tickets: RequestContents['tickets'] = {}): Buffer[] {
  if (tag === undefined) return [];
  const name = Buffer.from(tag.name);
  return [name, TAGGED.pack({ ticket: tickets[tagSubject(tag.name)] ?? 0, distinctMax: tag.distinctMax, length: name.length })];
}

export type BooksHead = ReturnType<typeof HEAD.read>;

export function readHead(packed: Buffer): BooksHead {
  if (packed.length !== HEAD.bytes) throw new Error('the head has the wrong length');
  return HEAD.read(packed);
}

/** A head that makes the functions count the slots in the list and check what is due before they use it. */
export function packHead(head: Pick<BooksHead, 'heldCharacters' | 'heldMicro' | 'number' | 'newestMs' | 'expiresMs'>): Buffer {
  return HEAD.pack({ ...head, lateMs: 0, current: 0, previous: 0, length: 0, passed: 0, oldestMs: NEVER, shortestMs: LONGEST });
}

/** The slots that count when the newest was taken, oldest first. */
export function readWindow(slots: readonly Buffer[], newestMs: number): TeamContents['window'] {
  const window: { atMs: number; count: number }[] = [];
  for (const slot of slots) {
    const { atMs } = SLOT.read(slot);
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
    const slot = SLOT.pack({ atMs });
    return Array.from({ length: count }, () => slot);
  });
}
