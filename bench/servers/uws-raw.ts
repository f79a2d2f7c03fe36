// A minimal proxy: uWebSockets.js in front, HTTP/1.1 over bare sockets to the engine. As cheap as a hop in Node can be:
// it only understands answers with a Content-Length that arrive in one piece, and is no client for real engines.
import { Socket } from 'node:net';
import type { HttpResponse } from 'uWebSockets.js';
import { collectBody, listen, numberArgument, uwsApp } from './common.ts';

const CONNECTIONS_MAX = 64;
const READ_BYTES = 65_536;
const LENGTH = /\r\ncontent-length: ?(\d+)\r\n/i;
const port = numberArgument('engine');

type Done = (body: string | undefined) => void;

class Hop {
  #socket = this.#connect();
  #done: Done | undefined = undefined;
  #text = '';

  #connect(): Socket {
    const callback = (bytes: number, buffer: Uint8Array): boolean => this.#read(bytes, buffer);
    const socket = new Socket({ onread: { buffer: Buffer.alloc(READ_BYTES), callback } });
    socket.setNoDelay(true).connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    // The engine closes idle connections.
    socket.on('close', () => {
      this.#socket = this.#connect();
      if (this.#done !== undefined) this.#end(undefined);
    });
    return socket;
  }

  post(body: string, done: Done): void {
    this.#done = done;
    const head = `POST /translate HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: `;
    this.#socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #read(bytes: number, buffer: Uint8Array): boolean {
    this.#text += Buffer.from(buffer.buffer, buffer.byteOffset, bytes).toString('latin1');
    const end = this.#text.indexOf('\r\n\r\n');
    const length = Number(LENGTH.exec(this.#text)?.[1]);
    if (end !== -1 && this.#text.length === end + 4 + length) this.#end(Buffer.from(this.#text.slice(end + 4), 'latin1').toString());
    return true;
  }

  #end(body: string | undefined): void {
    const done = this.#done;
    this.#text = '';
    this.#done = undefined;
    free.push(this);
    startNext();
    done?.(body);
  }
}

const free: Hop[] = [];
const waiting: { body: string; done: Done }[] = [];
for (let i = 0; i < CONNECTIONS_MAX; i++) free.push(new Hop());

function startNext(): void {
  while (free.length > 0 && waiting.length > 0) {
    const { body, done } = waiting.shift()!;
    free.pop()!.post(body, done);
  }
}

const app = uwsApp();
app.post('/v1/translate', (res) => {
  let gone = false;
  res.onAborted(() => {
    gone = true;
  });
  collectBody(res, (body) => {
    waiting.push({
      body,
      done: (answer) => {
        if (!gone) res.cork(() => finish(res, answer));
      },
    });
    startNext();
  });
});
listen(app);

function finish(res: HttpResponse, answer: string | undefined): void {
  if (answer === undefined) res.writeStatus('502 Bad Gateway').end();
  else res.writeHeader('Content-Type', 'application/json').end(answer);
}
