// The ledger's operations on their way to Redis and back, as bytes: the one place besides lua/call.lua that knows their form.
import { minorRoundedDown, minorRoundedUp } from '../../domain/money.ts';
import type { Admission, AdmissionRequest, Placed, Resolution, Verdict } from '../../ports/ledger.ts';
import type { Offer } from './period-offer.ts';
import { languagePair } from './glossary-record.ts';
import { ID_BYTES_MAX, writeRequestId } from './request-id-bytes.ts';

export interface Settlement {
  readonly requestId: string;
  readonly verdict: Verdict;
}

/** What one team is asked. */
export interface TeamOperations {
  /** Bounds of its next period, when it has asked for them. */
  readonly offer: Offer | undefined;
  readonly operations: readonly (AdmissionRequest | Settlement)[];
}

const COMMIT = 1;
const RELEASE = 0;
const ADMISSION = 2;
const RESERVES = 4;
const TELLS_RATE = 8;
const HAS_GLOSSARY = 16;
const HAS_CHARACTERS = 32;
const BY_BASE = 64;

const HEAD_BYTES = 16;
const TEAM_BYTES = 27;
/** Besides texts. */
const OPERATION_BYTES = 24 + ID_BYTES_MAX;
const SERVERS_OWN = -1;
/** Of one unit of a string. */
const UTF8_BYTES_MAX = 3;

/** `clockMs` is undefined for the server's own; times are in whole milliseconds. */
export function encodeCall(teams: readonly TeamOperations[], clockMs: number | undefined, deadlineMs: number): Buffer {
  const call = Buffer.allocUnsafe(teams.reduce((bytes, team) => bytes + bytesMax(team), HEAD_BYTES));
  call.writeDoubleBE(clockMs ?? SERVERS_OWN, 0);
  let at = call.writeDoubleBE(deadlineMs, 8);
  for (const { offer, operations } of teams) {
    at = writeOffer(call, at, offer);
    at = call.writeUInt16BE(operations.length, at);
    for (const operation of operations) at = writeOperation(call, at, operation);
  }
  return call.subarray(0, at);
}

function bytesMax({ offer, operations }: TeamOperations): number {
  let bytes = TEAM_BYTES + (offer === undefined ? 0 : Buffer.byteLength(offer.length));
  for (const operation of operations) {
    bytes += OPERATION_BYTES;
    if ('verdict' in operation) continue;
    bytes += UTF8_BYTES_MAX * operation.keyId.length;
    const { glossary } = operation;
    if (glossary === undefined) continue;
    bytes += 2 + Buffer.byteLength(glossary.glossaryId) + Buffer.byteLength(languagePair(glossary.sourceLang, glossary.targetLang));
  }
  return bytes;
}

function writeOffer(call: Buffer, at: number, offer: Offer | undefined): number {
  if (offer === undefined) return call.writeUInt8(0, at);
  let next = call.writeUInt8(1, at);
  for (const ms of [offer.startMs, offer.endMs, offer.createdMs]) next = call.writeDoubleBE(ms, next);
  return writeText(call, next, offer.length);
}

function writeOperation(call: Buffer, at: number, operation: AdmissionRequest | Settlement): number {
  let next = writeRequestId(call, at, operation.requestId);
  if ('verdict' in operation) return call.writeUInt8(operation.verdict === 'commit' ? COMMIT : RELEASE, next);
  const { keyId, characters, reserve, reportRate, glossary, leaseMs } = operation;
  let what = ADMISSION;
  if (reserve) what += RESERVES;
  if (reportRate === true) what += TELLS_RATE;
  if (glossary !== undefined) what += HAS_GLOSSARY;
  if (glossary?.byBase === true) what += BY_BASE;
  if (characters !== undefined) what += HAS_CHARACTERS;
  next = call.writeUInt8(what, next);
  next = writeText(call, next, keyId);
  next = call.writeDoubleBE(characters ?? 0, next);
  next = call.writeDoubleBE(leaseMs, next);
  if (glossary === undefined) return next;
  next = writeText(call, next, glossary.glossaryId);
  return writeText(call, next, languagePair(glossary.sourceLang, glossary.targetLang));
}

function writeText(call: Buffer, at: number, text: string): number {
  // A call out of JavaScript costs more than the few letters of an id.
  let length = writeAscii(call, at + 1, text);
  if (length !== text.length) length = call.write(text, at + 1);
  if (length > ID_BYTES_MAX) throw new RangeError(`${text.slice(0, 50)}… has ${length} bytes: at most ${ID_BYTES_MAX} are allowed`);
  call.writeUInt8(length, at);
  return at + 1 + length;
}

/** How many characters from the front were ASCII, and have been written. */
function writeAscii(call: Buffer, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return i;
    call[at + i] = code;
  }
  return text.length;
}

/** Answers that say that nothing was done. */
export type Undone =
  | { readonly kind: 'late' }
  | { readonly kind: 'period'; readonly createdMs: number; readonly length: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Reads a reply from front to back. */
export class ReplyReader {
  readonly nowMs: number;
  readonly #bytes: Buffer;
  #at = 8;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.nowMs = bytes.readDoubleBE(0);
  }

  admission(request: AdmissionRequest): Admission | Undone {
    const letter = this.#letter();
    switch (letter) {
      case 'r':
        return { kind: 'repeated' };
      case 'u':
        return { kind: 'key_unknown' };
      case 'v':
        return { kind: 'key_revoked' };
      case 'L':
        return { kind: 'rate_limited', limit: this.#number(), retryAfterMs: this.#number() };
      case 'T':
      case 'P':
      case 'F':
        return this.#undone(letter);
      case '+': {
        const rate = { limit: this.#number(), remaining: this.#number() };
        return { ...this.#placed(request, this.#letter()), rate };
      }
      default:
        return this.#placed(request, letter);
    }
  }

  resolution(): Resolution | Undone {
    const letter = this.#letter();
    switch (letter) {
      case 'C':
        return { kind: 'committed' };
      case 'R':
        return { kind: 'released' };
      case 'E':
        return { kind: 'expired' };
      case 'N':
        return { kind: 'absent' };
      case 'T':
      case 'P':
      case 'F':
        return this.#undone(letter);
      default:
        throw unreadable(letter);
    }
  }

  #placed({ requestId, teamId, characters = 0, leaseMs }: AdmissionRequest, letter: string): Placed {
    switch (letter) {
      case 'a':
        return { kind: 'admitted', reservation: undefined };
      case 'A':
        return { kind: 'admitted', reservation: { requestId, teamId, characters, leaseUntilMs: this.nowMs + leaseMs } };
      case 'G': {
        const reservation = { requestId, teamId, characters, leaseUntilMs: this.nowMs + leaseMs };
        return { kind: 'admitted', reservation, dictionaryId: this.#text() };
      }
      case 'O':
        return { kind: 'admitted', reservation: { requestId, teamId, characters: this.#number(), leaseUntilMs: this.#number() } };
      case 'x':
        return { kind: 'text_too_long', maxCharacters: this.#number() };
      case 'm':
        return { kind: 'glossary_missing' };
      case 'n':
        return { kind: 'glossary_mismatch' };
      case 'q':
        return { kind: 'quota_exceeded', characterLimit: this.#number(), overageCapMinor: this.#number(), periodEndMs: this.#number() };
      case 'c': {
        const [balanceMinor, requiredMinor] = [minorRoundedDown(this.#number()), minorRoundedUp(this.#number())];
        return { kind: 'credit_exhausted', balanceMinor, requiredMinor, currency: this.#text() };
      }
      default:
        throw unreadable(letter);
    }
  }

  #undone(letter: 'T' | 'P' | 'F'): Undone {
    if (letter === 'T') return { kind: 'late' };
    if (letter === 'F') return { kind: 'failed', message: this.#text() };
    return { kind: 'period', createdMs: this.#number(), length: this.#text() };
  }

  #letter(): string {
    return String.fromCharCode(this.#bytes.readUInt8(this.#at++));
  }

  #number(): number {
    const number = this.#bytes.readDoubleBE(this.#at);
    this.#at += 8;
    return number;
  }

  #text(): string {
    const length = this.#bytes.readUInt8(this.#at++);
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }
}

function unreadable(letter: string): Error {
  return new Error(`the ledger script answered ${JSON.stringify(letter)}`);
}
