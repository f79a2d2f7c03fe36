// What callers and gateways saw of each request: a run from outside, which is compared with the store's entries.
import type { Process } from './virtual-time.ts';

export interface Intent {
  readonly route: 'translate' | 'languages';
  /** Code points of a valid body; `undefined` for everything else. */
  readonly characters: number | undefined;
  /** The texts to translate, if the body is valid. */
  readonly text?: readonly string[];
  /** The caller's address. */
  readonly address: string;
  /** The key that was sent, if it exists at some time. */
  readonly keyId: string | undefined;
  /** The tag that was sent, if it is one. */
  readonly tag?: string | undefined;
}

/** In every fourth translation half of the characters are saved, as by a memory: not random, so that seeds keep their runs. */
export function sparedOf({ route, characters = 0 }: Intent): number {
  return route === 'translate' && characters % 4 === 1 ? Math.ceil(characters / 2) : 0;
}

/** What a delivered answer is charged. */
export function chargeOf(intent: Intent): number | undefined {
  return intent.characters === undefined ? undefined : intent.characters - sparedOf(intent);
}

export interface Answer {
  readonly atMs: number;
  readonly status: number;
  /** `ok` or the problem's code. */
  readonly code: string;
  readonly billedCharacters: number | undefined;
  readonly translations: readonly string[] | undefined;
}

export interface RequestRecord {
  readonly id: string;
  readonly intent: Intent;
  /** The gateway's process; another one after a restart. */
  readonly gateway: Process;
  readonly sentAtMs: number;
  readonly answers: Answer[];
  /** The caller closed the connection before an answer arrived. */
  leftAtMs: number | undefined;
  /** The access log's lines. */
  readonly logged: { readonly code: string; readonly characters: number }[];
  /** When the gateway learnt that the commit was made. */
  committedAtMs: number | undefined;
  /** Why this one may be delivered uncharged, or held until its lease ends: it was in flight when something died. */
  excuse: string | undefined;
}

export class History {
  readonly requests = new Map<string, RequestRecord>();
  /** Spans in which the store could not be reached as usual by anybody. */
  readonly #unquiet: { readonly fromMs: number; readonly toMs: number }[] = [];
  readonly bugs: string[] = [];

  begin(record: RequestRecord): void {
    this.requests.set(record.id, record);
  }

  need(id: string): RequestRecord {
    const record = this.requests.get(id);
    if (record === undefined) throw new Error(`nobody sent a request ${id}`);
    return record;
  }

  disturb(fromMs: number, toMs: number): void {
    this.#unquiet.push({ fromMs, toMs });
  }

  /** Everything that is not known to be settled yet, of one gateway process or of all. */
  excuse(reason: string, gateway?: Process): void {
    for (const record of this.requests.values()) {
      if (record.committedAtMs !== undefined || (gateway !== undefined && record.gateway !== gateway)) continue;
      record.excuse ??= reason;
    }
  }

  get lastDisturbedMs(): number {
    return Math.max(0, ...this.#unquiet.map((span) => span.toMs));
  }

  /** Whether there is a quiet stretch of `lengthMs` between two moments. */
  quiet(fromMs: number, toMs: number, lengthMs: number): boolean {
    let startMs = fromMs;
    for (const span of this.#unquiet.toSorted((one, other) => one.fromMs - other.fromMs)) {
      if (span.toMs <= startMs) continue;
      if (Math.min(span.fromMs, toMs) - startMs >= lengthMs) return true;
      startMs = Math.max(startMs, span.toMs);
    }
    return toMs - startMs >= lengthMs;
  }
}

/** A 200 for a translation: what must be charged. */
export function delivered({ answers, intent }: RequestRecord): Answer | undefined {
  const [answer] = answers;
  return intent.route === 'translate' && answer?.status === 200 ? answer : undefined;
}

/** Nobody is waiting for it any more: the answer was delivered, or the caller left. */
export function endedAtMs({ answers, leftAtMs }: RequestRecord): number | undefined {
  return answers[0]?.atMs ?? leftAtMs;
}

/** How a request ended: `ok` or a problem's code. */
export function endingOf({ answers, leftAtMs }: RequestRecord): string {
  return answers[0]?.code ?? (leftAtMs === undefined ? 'none' : 'left');
}
