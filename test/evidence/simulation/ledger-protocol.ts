// The byte protocol between the Redis driver and its ledger functions, read and written independently of both.
import { SocketAddress } from 'node:net';
import { COUNTED, WINDOWS } from '../../../src/domain/window-limits.ts';
import type { WindowNumber } from '../../../src/domain/window-limits.ts';
import type { Admission, AdmissionRequest, RateStanding, Resolution, Verdict, WindowStanding } from '../../../src/ports/ledger.ts';

export type LedgerOperation =
  | { readonly kind: 'admit'; readonly requestId: string; readonly request: AdmissionRequest }
  | { readonly kind: 'resolve'; readonly requestId: string; readonly verdict: Verdict; characters?: number };

/** And the length and team's creation from which they were computed. */
interface LedgerOffer {
  readonly startMs: number;
  readonly endMs: number;
  readonly anchorMs: number;
  readonly length: string;
}

/** A team's operations in a call. */
export interface LedgerGroup {
  readonly teamId: string;
  /** Bounds of a period. */
  readonly offer: LedgerOffer | undefined;
  readonly operations: readonly LedgerOperation[];
}

interface LedgerCall {
  /** Negative for the server's own. */
  readonly clockMs: number;
  readonly deadlineMs: number;
  readonly groups: readonly LedgerGroup[];
}

/** The meaning of a byte of an operation. */
const [REPORTS_PLAN, COMMIT, ADMISSION, RESERVES, REPORTS_RATE, HAS_GLOSSARY, HAS_CHARACTERS, BY_BASE] = [1, 1, 2, 4, 8, 16, 32, 64];
const HAS_PARTS = 2;
/** Of what few requests carry. */
const [HAS_ADDRESS, HAS_SCOPE, HAS_TAG] = [1, 2, 4];
const OTHER_ID = 0xff;
const ULID_BYTES = 16;
const IPV6_BYTES = 16;
const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Reads bytes from front to back. */
class Bytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  count(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  longCount(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  number(): number {
    return this.#bytes.readDoubleBE(this.#take(8));
  }

  text(): string {
    return this.#some().toString();
  }

  /** In text form; '' for none. */
  address(): string {
    const some = this.#some();
    if (some.length < IPV6_BYTES) return some.join('.');
    const groups = Array.from({ length: IPV6_BYTES / 2 }, (_, i) => some.readUInt16BE(2 * i).toString(16));
    return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
  }

  requestId(): string {
    const some = this.#some();
    if (some.length !== ULID_BYTES) return some.subarray(some.lastIndexOf(OTHER_ID) + 1).toString();
    let value = BigInt(`0x${some.toString('hex')}`);
    let id = '';
    for (; id.length < 26; value >>= 5n) id = ULID_DIGITS.charAt(Number(value & 31n)) + id;
    return id;
  }

  #some(): Buffer {
    const length = this.byte();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  #take(bytes: number): number {
    this.#at += bytes;
    return this.#at - bytes;
  }
}

export function readLedgerCall(keys: readonly string[], call: Buffer): LedgerCall {
  const bytes = new Bytes(call);
  const [clockMs, deadlineMs] = [bytes.number(), bytes.number()];
  let hasParts = false;
  const groups = keys.map((key): LedgerGroup => {
    const teamId = /\{(.+)\}/.exec(key)?.[1] ?? '';
    const says = bytes.byte();
    hasParts ||= says >= HAS_PARTS;
    const offer = says % HAS_PARTS === 0 ? undefined : readOffer(bytes);
    return { teamId, offer, operations: Array.from({ length: bytes.count() }, () => readOperation(teamId, bytes)) };
  });
  const operations = groups.flatMap((group) => group.operations);
  for (let parts = hasParts ? bytes.count() : 0; parts > 0; parts--) {
    const operation = operations[bytes.count() - 1];
    if (operation?.kind !== 'resolve' || operation.verdict !== 'commit') throw new Error('a part does not belong to a commit');
    operation.characters = bytes.number();
  }
  if (!bytes.ended) throw new Error('a call says more than its teams account for');
  return { clockMs, deadlineMs, groups };
}

function readOffer(bytes: Bytes): LedgerOffer {
  return { startMs: bytes.number(), endMs: bytes.number(), anchorMs: bytes.number(), length: bytes.text() };
}

function readOperation(teamId: string, bytes: Bytes): LedgerOperation {
  const requestId = bytes.requestId();
  const what = bytes.byte();
  if (what < ADMISSION) return { kind: 'resolve', requestId, verdict: what === COMMIT ? 'commit' : 'release' };
  const [keyId, characters, leaseMs] = [bytes.text(), bytes.number(), bytes.number()];
  // Below zero if what few requests carry follows.
  const isCarrying = leaseMs < 0;
  const glossary = (what & HAS_GLOSSARY) === 0 ? undefined : readGlossary(bytes, (what & BY_BASE) > 0);
  const request = {
    requestId,
    teamId,
    keyId,
    characters: (what & HAS_CHARACTERS) === 0 ? undefined : characters,
    reserve: (what & RESERVES) > 0,
    leaseMs: isCarrying ? -1 - leaseMs : leaseMs,
    glossary,
    reportRate: (what & REPORTS_RATE) > 0,
    ...((what & REPORTS_PLAN) === 0 ? {} : { reportPlan: true as const }),
    ...(isCarrying ? readCarried(bytes) : {}),
  };
  return { kind: 'admit', requestId, request };
}

function readCarried(bytes: Bytes): Pick<AdmissionRequest, 'address' | 'scope' | 'tag'> {
  const what = bytes.byte();
  return {
    ...((what & HAS_ADDRESS) === 0 ? {} : { address: bytes.address() }),
    ...((what & HAS_SCOPE) === 0 ? {} : { scope: bytes.text() }),
    ...((what & HAS_TAG) === 0 ? {} : { tag: { name: bytes.text(), distinctMax: bytes.longCount() } }),
  };
}

function readGlossary(bytes: Bytes, byBase: boolean): AdmissionRequest['glossary'] {
  const glossaryId = bytes.text();
  const [sourceLang = '', targetLang = ''] = bytes.text().split('|');
  return { glossaryId, sourceLang, targetLang, byBase };
}

/** The store's time, and the reply to each operation. */
export function writeReply(nowMs: number, answers: readonly Buffer[]): Buffer {
  return Buffer.concat([numbers(nowMs), ...answers]);
}

export const TOO_LATE = Buffer.from('T');

export function periodQuestion(anchorMs: number, length: string): Buffer {
  return Buffer.concat([Buffer.from('P'), numbers(anchorMs), text(length)]);
}

/** In the functions' format; amounts of money in millionths. */
export function bytesOf(answer: Admission | Resolution): Buffer {
  const rate = 'rate' in answer && answer.rate !== undefined ? rateParts(answer.rate) : [];
  const plan = 'plan' in answer && answer.plan !== undefined ? [Buffer.from('W'), text(answer.plan)] : [];
  const windows = 'windows' in answer && answer.windows !== undefined ? windowParts(answer.windows) : [];
  return Buffer.concat([...plan, ...rate, ...windows, ...partsOf(answer)]);
}

function rateParts({ limit, remaining, of }: RateStanding): readonly Buffer[] {
  return [Buffer.from({ team: '+', key: '*', tag: '#' }[of ?? 'team']), numbers(limit, remaining)];
}

/** After the three rates come the team's windows, then the key's, then the tag's: from the shortest, requests before characters. */
const FIRST_WINDOW = { team: 3, key: 3 + WINDOWS.length * COUNTED.length, tag: 3 + 2 * WINDOWS.length * COUNTED.length };

function indexOf(of: 'team' | 'key' | 'tag' | 'test_keys' = 'team', { per, counts }: WindowNumber): Buffer {
  return Buffer.from([FIRST_WINDOW[of === 'test_keys' ? 'team' : of] + COUNTED.length * WINDOWS.indexOf(per) + COUNTED.indexOf(counts)]);
}

function windowParts(standings: readonly WindowStanding[]): readonly Buffer[] {
  const parts = standings.flatMap((one) => [indexOf(one.of, one), numbers(one.limit, one.remaining, one.resetMs)]);
  return [Buffer.from('='), Buffer.from([standings.length]), ...parts];
}

const WORDS = {
  repeated: 'r',
  key_unknown: 'u',
  address_wanted: 'w',
  address_refused: 'i',
  scope_wanted: 's',
  scope_missing: 'f',
  tag_disabled: 'D',
  glossary_missing: 'm',
  glossary_mismatch: 'n',
  committed: 'C',
  released: 'R',
  expired: 'E',
  absent: 'N',
} as const;

function partsOf(answer: Admission | Resolution): readonly Buffer[] {
  switch (answer.kind) {
    case 'admitted': {
      const { reservation, dictionaryId } = answer;
      if (reservation === undefined) return [Buffer.from('a')];
      if (dictionaryId !== undefined) return [Buffer.from('G'), text(dictionaryId)];
      return [Buffer.from('O'), numbers(reservation.characters, reservation.leaseUntilMs)];
    }
    case 'rate_limited': {
      const { limit, retryAfterMs, fullForMs = 0, window } = answer;
      if (window !== undefined) return [Buffer.from('z'), indexOf(answer.of, window), numbers(limit, retryAfterMs, fullForMs)];
      return [Buffer.from({ team: 'L', key: 'l', tag: 'k' }[answer.of ?? 'team']), numbers(limit, retryAfterMs, fullForMs)];
    }
    case 'text_too_long':
      return [Buffer.from('x'), numbers(answer.maxCharacters)];
    case 'quota_exceeded': {
      const values = numbers(answer.characterLimit, answer.overageCapMinor, answer.periodEndMs);
      if (answer.window !== undefined) return [Buffer.from('Z'), indexOf(answer.of, answer.window), values];
      return [Buffer.from({ team: 'q', key: 'Q', tag: 'U', test_keys: 't' }[answer.of ?? 'team']), values];
    }
    case 'credit_exhausted':
      return [Buffer.from('c'), numbers(answer.balanceMinor * 1_000_000, answer.requiredMinor * 1_000_000), text(answer.currency)];
    case 'unavailable':
      throw new Error('the model is always there');
    case 'key_revoked':
      return [Buffer.from(answer.reason === undefined ? 'v' : answer.reason === 'disabled' ? 'd' : 'e')];
    case 'repeated':
    case 'key_unknown':
    case 'address_wanted':
    case 'address_refused':
    case 'scope_wanted':
    case 'scope_missing':
    case 'tag_disabled':
    case 'glossary_missing':
    case 'glossary_mismatch':
    case 'committed':
    case 'released':
    case 'expired':
    case 'absent':
      return [Buffer.from(WORDS[answer.kind])];
  }
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [i, value] of values.entries()) bytes.writeDoubleBE(value, 8 * i);
  return bytes;
}

function text(words: string): Buffer {
  const bytes = Buffer.from(words);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
