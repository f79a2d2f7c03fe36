// A minimal proxy: uWebSockets.js in front, undici's dispatch to the engine, nothing in between.
import type { HttpResponse } from 'uWebSockets.js';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { collectBody, listen, numberArgument, uwsApp } from './common.ts';

const CONNECTIONS_MAX = 64;
const HEADERS = { 'content-type': 'application/json' };

const pool = new Pool(`http://127.0.0.1:${numberArgument('engine')}`, { connections: CONNECTIONS_MAX, pipelining: 1 });
const app = uwsApp();
app.post('/v1/translate', (res) => {
  const answer = new ProxyAnswer(res);
  res.onAborted(() => answer.abort());
  collectBody(res, (body) => void pool.dispatch({ method: 'POST', path: '/translate', headers: HEADERS, body }, answer));
});
listen(app);

class ProxyAnswer implements Dispatcher.DispatchHandler {
  readonly #res: HttpResponse;
  readonly #pieces: Buffer[] = [];
  #gone = false;

  constructor(res: HttpResponse) {
    this.#res = res;
  }

  abort(): void {
    this.#gone = true;
  }

  onRequestStart(): void {}

  onResponseStart(): void {}

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    if (this.#gone) return;
    const body = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#res.cork(() => void this.#res.writeHeader('Content-Type', 'application/json').end(body));
  }

  onResponseError(): void {
    if (!this.#gone) this.#res.cork(() => void this.#res.writeStatus('502 Bad Gateway').end());
  }
}
