// What the bench's own servers share: their arguments, the gateway's build of uWebSockets.js, a request's body.
import process from 'node:process';
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { loadUws } from '../../src/server/uws-build.ts';

/** `--name NUMBER`, the only form of argument. Throws if it is missing. */
export function numberArgument(name: string): number {
  const at = process.argv.indexOf(`--${name}`);
  const value = Number(process.argv[at + 1]);
  if (at === -1 || !Number.isFinite(value)) throw new Error(`--${name} NUMBER is missing`);
  return value;
}

export function uwsApp(): TemplatedApp {
  return loadUws().library.App();
}

export function listen(app: TemplatedApp): void {
  const port = numberArgument('port');
  app.listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`cannot listen on port ${port}`);
  });
}

/** Most bodies arrive in one piece. */
export function collectBody(res: HttpResponse, done: (body: string) => void): void {
  const pieces: Buffer[] = [];
  res.onData((piece, isLast) => {
    if (isLast && pieces.length === 0) {
      done(Buffer.from(piece).toString());
      return;
    }
    // The library reuses a piece's memory when this returns.
    pieces.push(Buffer.from(new Uint8Array(piece)));
    if (isLast) done(Buffer.concat(pieces).toString());
  });
}
