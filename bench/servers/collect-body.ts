// A request's body as text, for the bench's own servers: most bodies arrive in one piece.
import type { HttpResponse } from 'uWebSockets.js';

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
