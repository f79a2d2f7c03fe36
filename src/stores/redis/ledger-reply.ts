// Decodes the ledger's replies: bytes, read from front to back. lua/call.lua encodes them.
import { minorRoundedDown, minorRoundedUp } from '../../domain/money.ts';
import { windowNumberAt } from '../../domain/limits.ts';
import type { Admission, AdmissionRequest, Placed, QuotaExceeded, RateLimited, Resolution, WindowStanding } from '../../ports/ledger.ts';

/** Answers for operations that had no effect. */
export type Undone =
  | { readonly kind: 'late' }
  | { readonly kind: 'period'; readonly anchorMs: number; readonly length: string }
  | { readonly kind: 'failed'; readonly message: string };

/** The answers without numbers, by letter. */
const REFUSALS: ReadonlyMap<string, Admission> = new Map([
  ['r', { kind: 'repeated' }],
  ['u', { kind: 'key_unknown' }],
  ['v', { kind: 'key_revoked' }],
  ['d', { kind: 'key_revoked', reason: 'disabled' }],
  ['e', { kind: 'key_revoked', reason: 'expired' }],
  ['w', { kind: 'address_wanted' }],
  ['i', { kind: 'address_refused' }],
  ['s', { kind: 'scope_wanted' }],
  ['f', { kind: 'scope_missing' }],
  ['D', { kind: 'tag_disabled' }],
] as const);
const RESOLUTIONS: ReadonlyMap<string, Resolution> = new Map([
  ['C', { kind: 'committed' }],
  ['K', { kind: 'committed' }],
  ['R', { kind: 'released' }],
  ['E', { kind: 'expired' }],
  ['N', { kind: 'absent' }],
] as const);

/** Whose rate is reported. */
const OF_RATES = { '+': undefined, '*': 'key', '#': 'tag' } as const;

/** Reads a reply from front to back. */
export class ReplyReader {
  readonly nowMs: number;
  /** Whether the last answer says that its team has new events to list. */
  hasEvents = false;
  readonly #bytes: Buffer;
  #at = 8;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.nowMs = bytes.readDoubleBE(0);
  }

  admission(request: AdmissionRequest): Admission | Undone {
    this.hasEvents = false;
    const letter = this.#letter();
    switch (letter) {
      case 'L':
        return this.#rateLimited();
      case 'l':
        return { ...this.#rateLimited(), of: 'key' };
      case 'k':
        return { ...this.#rateLimited(), of: 'tag' };
      case 'T':
      case 'P':
      case 'F':
        return this.#undone(letter);
      case 'Y':
        this.hasEvents = true;
        return this.#refusedOrPlaced(request, this.#letter());
      case 'W': {
        const plan = this.#text();
        return { ...this.#placed(request, this.#letter()), plan };
      }
      default:
        return REFUSALS.get(letter) ?? this.#refusedOrPlaced(request, letter);
    }
  }

  #refusedOrPlaced(request: AdmissionRequest, letter: string): RateLimited | Placed {
    return letter === 'z' ? { ...this.#window(), ...this.#rateLimited() } : this.#placed(request, letter);
  }

  resolution(): Resolution | Undone {
    const letter = this.#letter();
    this.hasEvents = letter === 'K';
    const resolution = RESOLUTIONS.get(letter);
    if (resolution !== undefined) return resolution;
    if (letter === 'T' || letter === 'P' || letter === 'F') return this.#undone(letter);
    throw unreadable(letter);
  }

  #placed(request: AdmissionRequest, letter: string): Placed {
    const { requestId, teamId, leaseMs } = request;
    const characters = request.charged ?? request.characters ?? 0;
    switch (letter) {
      case '+':
      case '*':
      case '#': {
        const rate = { limit: this.#number(), remaining: this.#number(), of: OF_RATES[letter] };
        return { ...this.#placed(request, this.#letter()), rate };
      }
      case '=': {
        const windows = this.#windowStandings();
        return { ...this.#placed(request, this.#letter()), windows };
      }
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
      case 'Y':
        this.hasEvents = true;
        return this.#placed(request, this.#letter());
      case 'q':
        return this.#quotaExceeded();
      case 'Z':
        return { ...this.#window(), ...this.#quotaExceeded() };
      case 'Q':
        return { ...this.#quotaExceeded(), of: 'key' };
      case 'U':
        return { ...this.#quotaExceeded(), of: 'tag' };
      case 't':
        return { ...this.#quotaExceeded(), of: 'test_keys' };
      case 'c': {
        const [balanceMinor, requiredMinor] = [minorRoundedDown(this.#number()), minorRoundedUp(this.#number())];
        return { kind: 'credit_exhausted', balanceMinor, requiredMinor, currency: this.#text() };
      }
      default:
        throw unreadable(letter);
    }
  }

  /** Of which limit of a window a refusal is. */
  #window(): Pick<RateLimited, 'of' | 'window'> {
    const { of, per, counts } = windowNumberAt(this.#byte());
    return { ...(of === 'team' ? {} : { of }), window: { per, counts } };
  }

  #windowStandings(): WindowStanding[] {
    return Array.from({ length: this.#byte() }, () => {
      const { of, per, counts } = windowNumberAt(this.#byte());
      const numbers = { limit: this.#number(), remaining: this.#number(), resetMs: this.#number() };
      return { ...(of === 'team' ? {} : { of }), per, counts, ...numbers };
    });
  }

  #rateLimited(): RateLimited {
    return { kind: 'rate_limited', limit: this.#number(), retryAfterMs: this.#number(), fullForMs: this.#number() };
  }

  #quotaExceeded(): QuotaExceeded {
    return { kind: 'quota_exceeded', characterLimit: this.#number(), overageCapMinor: this.#number(), periodEndMs: this.#number() };
  }

  #undone(letter: 'T' | 'P' | 'F'): Undone {
    if (letter === 'T') return { kind: 'late' };
    if (letter === 'F') return { kind: 'failed', message: this.#text() };
    return { kind: 'period', anchorMs: this.#number(), length: this.#text() };
  }

  #letter(): string {
    return String.fromCharCode(this.#byte());
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.#at++);
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
  return new Error(`the ledger function answered ${JSON.stringify(letter)}`);
}
