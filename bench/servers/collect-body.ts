// A request's body as text, for the bench's own servers: most bodies come in one piece.
import type { HttpResponse } from 'uWebSockets.js';

export function collectBody(res: HttpResponse, done: (body: string) => void): void {
  const pieces: Buffer[] = [];
  res.onData((piece, isLast) => {
    if (isLast && pieces.length === 0) {
      done(Buffer.from(piece).toString());
      return;
    }
    // A piece's memory is the library's again when this returns.
    pieces.push(Buffer.from(new Uint8Array(piece)));
    if (isLast) done(Buffer.concat(pieces).toString());
  });
}
