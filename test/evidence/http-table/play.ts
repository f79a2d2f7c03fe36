// Plays one case of the table against a server, and returns the outcome in the table's notation.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readResponse } from '../../support/raw-response.ts';
import type { HttpResponse } from '../../support/raw-response.ts';
import { CASE_MARK, TAIL_MARK } from './notation.ts';
import type { HttpCase, Outcome } from './notation.ts';

/** After this long, an answer was caused by a timer. */
const OVERDUE_MS = 4_000;
/** Longer than any timer of either library. */
const PATIENCE_MS = 16_000;
/** Ends a connection that is as good as new; if it is not, the answer shows it. */
const GOODBYE = 'GET /health HTTP/1.1\r\nHost: goodbye\r\nConnection: close\r\n\r\n';

export interface Marks {
  readonly own: string;
  readonly tail: string;
}

interface Played {
  readonly outcome: Outcome;
  /** All answers, in full. */
  readonly answers: readonly HttpResponse[];
}

/** The two marks of a case: `c00017` and, for what must never be handled, `C00017`. */
export function marksOf(run: string, index: number): Marks {
  const own = `${run}${String(index).padStart(5, '0')}`;
  return { own, tail: own.toUpperCase() };
}

/** The bytes of a case, with its marks filled in. */
export function bytesOf(bytes: HttpCase['bytes'], marks: Marks): Buffer[] {
  const pieces = typeof bytes === 'string' ? [bytes] : bytes;
  return pieces.map((piece) => Buffer.from(piece.replaceAll(CASE_MARK, marks.own).replaceAll(TAIL_MARK, marks.tail), 'latin1'));
}

/** `expected` is the number of answers to wait for before the connection is tested; whatever else arrives is reported. */
export async function play(port: number, pieces: readonly Buffer[], expected: Outcome, halfClose = false): Promise<Played> {
  const words = expected.split(' ');
  const desired = words.includes('close') || words.includes('hangs') ? Infinity : words.filter((word) => /\d/.test(word)).length;
  const headless = pieces[0]?.subarray(0, 5).toString('latin1') === 'HEAD ';
  const wire = await Wire.open(port, headless);
  const startedAtMs = performance.now();
  await wire.send(pieces, halfClose);
  const answered = await wire.until(desired);
  const delayed = performance.now() - startedAtMs > OVERDUE_MS ? ['timer'] : [];
  if (!answered) {
    wire.destroy();
    return { outcome: [...delayed, ...wire.words(), wire.ended ? 'close' : 'hangs'].join(' '), answers: wire.answers() };
  }
  await wire.send([Buffer.from(GOODBYE)], false);
  await wire.until(Infinity);
  wire.destroy();
  const said = wire.words();
  // The answer after the expected ones belongs to the goodbye: a connection that accepted it was as good as new.
  const retained = said.length === desired + 1 && said.at(-1) === '200';
  const own = retained ? said.slice(0, -1) : [...said, 'close'];
  return { outcome: [...delayed, ...own].join(' '), answers: wire.answers().slice(0, desired) };
}

/** A socket and everything received on it. */
class Wire {
  readonly #socket: Socket;
  readonly #headless: boolean;
  #received = Buffer.alloc(0);
  #wake: (() => void) | undefined = undefined;
  ended = false;

  static open(port: number, headless: boolean): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Wire(socket, headless)));
    });
  }

  private constructor(socket: Socket, headless: boolean) {
    this.#socket = socket;
    this.#headless = headless;
    const end = (): void => {
      this.ended = true;
      this.#wake?.();
    };
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake?.();
    });
    socket.on('end', end);
    socket.on('error', end);
    socket.on('close', end);
  }

  async send(pieces: readonly Buffer[], halfClose: boolean): Promise<void> {
    for (const [index, piece] of pieces.entries()) {
      await new Promise<void>((resolve) => this.#socket.write(piece, () => resolve()));
      // The server runs in this process: within a few turns it has read what was written.
      if (index < pieces.length - 1) for (let turn = 0; turn < 4; turn++) await nextTurn();
    }
    if (halfClose) this.#socket.end();
  }

  /** Whether this many answers arrived before the connection ended or time ran out. */
  async until(desired: number): Promise<boolean> {
    const atMs = performance.now() + PATIENCE_MS;
    while (!this.ended && this.words().length < desired) {
      const leftMs = atMs - performance.now();
      if (leftMs <= 0) return false;
      await this.#news(leftMs);
    }
    return this.words().length >= desired;
  }

  words(): string[] {
    return this.#read().map(({ word }) => word);
  }

  answers(): HttpResponse[] {
    return this.#read().map(({ response }) => response);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(): { readonly word: string; readonly response: HttpResponse }[] {
    const read = [];
    let rest = this.#received;
    let headless = this.#headless;
    for (;;) {
      const next = readResponse(rest, headless, this.ended);
      if (next === undefined) return read;
      const { response, length } = next;
      read.push({ word: wordFor(response), response });
      if (response.status >= 200) headless = false;
      rest = rest.subarray(length);
    }
  }

  async #news(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }
}

function wordFor({ status, headers, body }: HttpResponse): string {
  const hidden = /HTTP\/1\.1 \d{3}/.test(body) ? '+hidden' : '';
  if (status >= 200 && headers['x-request-id'] === undefined) return `html:${status}${hidden}`;
  return `${status}${hidden}`;
}
