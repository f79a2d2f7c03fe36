// Encodes the ledger's operations for Redis. lua/call.lua decodes them.
import { addressBytes } from '../../domain/key-limits.ts';
import type { AdmissionRequest, CallerCheck, Verdict } from '../../ports/ledger.ts';
import type { Offer } from './rounds.ts';
import { languagePair } from '../records/glossary-record.ts';
import { ID_BYTES_MAX, writeRequestId } from './request-id-bytes.ts';

interface Settlement {
  readonly requestId: string;
  readonly verdict: Verdict;
  /** For a commit that charges less than was reserved. */
  readonly characters?: number | undefined;
}

/** An admission, or a check: it stops after key and rate, and changes nothing but the key's last use. */
interface CodedAdmission extends AdmissionRequest {
  readonly isCheck?: true;
}

/** A check is sent as an admission: it shares its encoding, its call and its repetitions. */
export function asAdmission(check: CallerCheck): CodedAdmission {
  return { ...check, characters: undefined, reserve: false, leaseMs: 0, glossary: undefined, isCheck: true };
}

type CodedOperation = CodedAdmission | Settlement;

const COMMIT = 1;
/** Of an admission. */
const REPORTS_PLAN = 1;
const RELEASE = 0;
const ADMISSION = 2;
const RESERVES = 4;
const REPORTS_RATE = 8;
const HAS_GLOSSARY = 16;
const HAS_CHARACTERS = 32;
const BY_BASE = 64;
const IS_CHECK = 128;

/** Bits of a team's first byte; bit 1 says that bounds of a period follow. */
const HAS_PARTS = 2;

const HEAD_BYTES = 16;
const TEAM_BYTES = 27;
/** Without texts; a partial commit is shorter than an admission. */
const OPERATION_BYTES = 32 + ID_BYTES_MAX;
const PARTS_COUNT_BYTES = 2;
const PART_BYTES = 10;
/** Of what few requests carry, in their first byte. */
const HAS_ADDRESS = 1;
const HAS_SCOPE = 2;
const HAS_TAG = 4;
/** Its length before it, and the number behind it. */
const TAG_BYTES = 5;
/** With that byte. */
const ADDRESS_BYTES_MAX = 18;
const ROOM_BYTES = 65_536;
/** For one UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;

/** Calls are encoded here, because their length is only known afterwards, and allocating this size for each call would cost more. */
let room = Buffer.allocUnsafeSlow(ROOM_BYTES);

/**
 * `teams` are lists of the operations of one team each. `offer`: the bounds of their next period, if they have asked for them.
 * `clockMs` is less than 0 if the server's clock applies (`ServerClocks.clockOf`); times are whole milliseconds.
 */
export function encodeCall(
  teams: readonly (readonly CodedOperation[])[],
  offer: Offer | undefined,
  clockMs: number,
  deadlineMs: number,
): Buffer {
  let bytesNeeded = HEAD_BYTES + PARTS_COUNT_BYTES;
  for (const operations of teams) bytesNeeded += bytesMax(operations, offer);
  if (bytesNeeded > room.length) room = Buffer.allocUnsafeSlow(bytesNeeded);
  const call = room;
  // The buffer's own methods are slower: V8 does not inline them.
  const numbers = new DataView(call.buffer, call.byteOffset, call.length);
  numbers.setFloat64(0, clockMs);
  numbers.setFloat64(8, deadlineMs);
  let at = HEAD_BYTES;
  let hasParts = false;
  for (const operations of teams) {
    if (offer === undefined) call[at++] = 0;
    else at = writeOffer(call, numbers, at, offer);
    numbers.setUint16(at, operations.length);
    at += 2;
    for (const operation of operations) {
      at = writeOperation(call, numbers, at, operation);
      hasParts ||= isPart(operation);
    }
  }
  if (hasParts) {
    call[HEAD_BYTES]! += HAS_PARTS;
    at = writeParts(numbers, at, teams.flat());
  }
  return Buffer.from(call.subarray(0, at));
}

/** After all teams, so that a call without partial commits is not longer. A bit of the first team's byte says that they follow. */
function writeParts(numbers: DataView, at: number, operations: readonly CodedOperation[]): number {
  let next = at + 2;
  let parts = 0;
  for (const [index, operation] of operations.entries()) {
    if (!isPart(operation)) continue;
    numbers.setUint16(next, index + 1);
    numbers.setFloat64(next + 2, operation.characters);
    next += PART_BYTES;
    parts++;
  }
  numbers.setUint16(at, parts);
  return next;
}

function isPart(operation: CodedOperation): operation is Settlement & { readonly characters: number } {
  return 'verdict' in operation && operation.verdict === 'commit' && operation.characters !== undefined;
}

function bytesMax(operations: readonly CodedOperation[], offer: Offer | undefined): number {
  let bytes = TEAM_BYTES + (offer === undefined ? 0 : Buffer.byteLength(offer.length));
  for (const operation of operations) {
    bytes += OPERATION_BYTES;
    if ('verdict' in operation) continue;
    bytes += UTF8_BYTES_MAX * operation.keyId.length + (operation.address === undefined ? 0 : ADDRESS_BYTES_MAX);
    if (operation.scope !== undefined) bytes += 2 + operation.scope.length;
    if (operation.tag !== undefined) bytes += 1 + TAG_BYTES + operation.tag.name.length;
    const { glossary } = operation;
    if (glossary === undefined) continue;
    bytes += 2 + Buffer.byteLength(glossary.glossaryId) + Buffer.byteLength(languagePair(glossary.sourceLang, glossary.targetLang));
  }
  return bytes;
}

function writeOffer(call: Buffer, numbers: DataView, at: number, offer: Offer): number {
  call[at] = 1;
  numbers.setFloat64(at + 1, offer.startMs);
  numbers.setFloat64(at + 9, offer.endMs);
  numbers.setFloat64(at + 17, offer.anchorMs);
  return writeText(call, at + 25, offer.length);
}

function writeOperation(call: Buffer, numbers: DataView, at: number, operation: CodedOperation): number {
  let next = writeRequestId(call, at, operation.requestId);
  if ('verdict' in operation) {
    call[next] = operation.verdict === 'commit' ? COMMIT : RELEASE;
    return next + 1;
  }
  const {
    keyId,
    characters = 0,
    charged = characters,
    reserve,
    reportRate,
    reportPlan,
    glossary,
    leaseMs,
    isCheck,
    address,
    scope,
    tag,
  } = operation;
  const isCarrying = address !== undefined || scope !== undefined || tag !== undefined;
  let what = ADMISSION;
  if (reserve) what += RESERVES;
  if (reportRate === true) what += REPORTS_RATE;
  if (reportPlan === true) what += REPORTS_PLAN;
  if (glossary !== undefined) what += HAS_GLOSSARY;
  if (glossary?.byBase === true) what += BY_BASE;
  if (operation.characters !== undefined) what += HAS_CHARACTERS;
  if (isCheck === true) what += IS_CHECK;
  call[next] = what;
  next = writeText(call, next + 1, keyId);
  // Negative if those to reserve follow.
  numbers.setFloat64(next, charged === characters ? characters : -1 - characters);
  // Negative if what few requests carry follows; a lease never is.
  numbers.setFloat64(next + 8, isCarrying ? -1 - leaseMs : leaseMs);
  next += 16;
  if (charged !== characters) {
    numbers.setFloat64(next, charged);
    next += 8;
  }
  if (glossary !== undefined) {
    next = writeText(call, next, glossary.glossaryId);
    next = writeText(call, next, languagePair(glossary.sourceLang, glossary.targetLang));
  }
  return isCarrying ? writeCarried(call, numbers, next, operation) : next;
}

function writeCarried(call: Buffer, numbers: DataView, at: number, { address, scope, tag }: CodedAdmission): number {
  call[at] = (address === undefined ? 0 : HAS_ADDRESS) + (scope === undefined ? 0 : HAS_SCOPE) + (tag === undefined ? 0 : HAS_TAG);
  let next = address === undefined ? at + 1 : writeAddress(call, at + 1, address);
  if (scope !== undefined) next = writeText(call, next, scope);
  if (tag === undefined) return next;
  next = writeText(call, next, tag.name);
  numbers.setUint32(next, tag.distinctMax);
  return next + 4;
}

/** No bytes if the text is not an address. */
function writeAddress(call: Buffer, at: number, address: string): number {
  const bytes = addressBytes(address);
  call[at] = bytes.length;
  call.set(bytes, at + 1);
  return at + 1 + bytes.length;
}

function writeText(call: Buffer, at: number, text: string): number {
  // Read once: V8 does not inline reading the length of a string for all of its representations.
  let { length } = text;
  let ascii = 0;
  // A loop, because a native call costs more for the few characters of an id.
  for (; ascii < length; ascii++) {
    const code = text.charCodeAt(ascii);
    if (code > 0x7f) break;
    call[at + 1 + ascii] = code;
  }
  if (ascii < length) length = call.write(text, at + 1);
  if (length > ID_BYTES_MAX) throw new RangeError(`${text.slice(0, 50)}… has ${length} bytes: at most ${ID_BYTES_MAX} are allowed`);
  call[at] = length;
  return at + 1 + length;
}
