// One keep-alive connection of the load: sends a request, reads its answer, compares it, reports. Leaner than any HTTP client.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Expected } from './load-job.ts';
import { NUMBER_PLACE } from './text-variety.ts';
import type { TextNumbers } from './text-variety.ts';

const READ_BYTES = 65_536;
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** `fault` is undefined if the answer was as expected. */
export type OnAnswer = (connection: LoadConnection, fault: string | undefined) => void;

export class LoadConnection {
  /** When the current request was due; kept here for the measurement. */
  dueMs = 0;
  readonly #expected: Expected;
  readonly #numbers: TextNumbers | undefined;
  /** Of the current request. */
  #body: string | undefined;
  readonly #statusText: string;
  readonly #onAnswer: OnAnswer;
  readonly #port: number;
  #socket: Socket;
  #busy = false;
  #left = false;
  /** Of an answer that arrives in pieces. */
  #parts = '';

  private constructor(port: number, expected: Expected, onAnswer: OnAnswer, numbers: TextNumbers | undefined) {
    this.#port = port;
    this.#expected = expected;
    this.#body = expected.body;
    this.#numbers = numbers;
    this.#statusText = `HTTP/1.1 ${expected.status} `;
    this.#onAnswer = onAnswer;
    this.#socket = this.#open();
  }

  static open(port: number, expected: Expected, onAnswer: OnAnswer, numbers?: TextNumbers): Promise<LoadConnection> {
    const connection = new LoadConnection(port, expected, onAnswer, numbers);
    return new Promise((resolve, reject) => {
      connection.#socket.once('connect', () => resolve(connection)).once('error', reject);
    });
  }

  get busy(): boolean {
    return this.#busy;
  }

  send(request: Buffer): void {
    this.#busy = true;
    this.#socket.write(this.#numbers === undefined ? request : this.#numbered(request, this.#numbers.next()));
  }

  #numbered(request: Buffer, number: string): Buffer {
    this.#body = this.#expected.body?.replace(NUMBER_PLACE, number);
    const own = Buffer.from(request);
    own.write(number, own.lastIndexOf(NUMBER_PLACE), 'latin1');
    return own;
  }

  leave(): void {
    this.#left = true;
    this.#socket.destroy();
  }

  #open(): Socket {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (bytes: number): boolean => {
      this.#take(buffer.toString('latin1', 0, bytes));
      return true;
    };
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } });
    socket.on('error', () => undefined);
    socket.once('close', () => this.#closed());
    return socket;
  }

  #closed(): void {
    if (this.#left) return;
    const wasBusy = this.#busy;
    this.#busy = false;
    this.#parts = '';
    this.#socket = this.#open();
    if (wasBusy) this.#onAnswer(this, 'the connection broke');
  }

  #take(piece: string): void {
    const text = this.#parts === '' ? piece : this.#parts + piece;
    const headEnd = text.indexOf('\r\n\r\n');
    // A 304 has neither body nor length.
    const length = headEnd === -1 ? undefined : this.#expected.status === 304 ? '0' : LENGTH.exec(text)?.[1];
    if (headEnd !== -1 && length === undefined) {
      this.#answered(`an answer without Content-Length: ${text.slice(0, 200)}`);
      return;
    }
    if (headEnd === -1 || text.length < headEnd + 4 + Number(length)) this.#parts = text;
    else this.#answered(this.#judge(text, headEnd + 4));
  }

  #judge(text: string, bodyAt: number): string | undefined {
    const { alsoStatus } = this.#expected;
    const body = this.#body;
    const statusIsRight = text.startsWith(this.#statusText) || (alsoStatus !== undefined && text.startsWith(`HTTP/1.1 ${alsoStatus} `));
    const right = statusIsRight && (body === undefined || (text.length === bodyAt + body.length && text.endsWith(body)));
    return right ? undefined : `an unexpected answer: ${text.slice(0, 12)} ${text.slice(bodyAt, bodyAt + 300)}`;
  }

  #answered(fault: string | undefined): void {
    this.#parts = '';
    this.#busy = false;
    this.#onAnswer(this, fault);
  }
}
