// A fetch whose answers have limits: their bytes, and the time for everything.

/** The answer is longer than allowed. */
export class LongAnswerError extends Error {
  override name = 'LongAnswerError';
}

type FetchOptions = Omit<RequestInit, 'signal' | 'redirect'> & { readonly signal?: AbortSignal | undefined };

/**
 * Follows no redirects. `deadline` ends every call, also while its answer is read. Rejects as `fetch` does, and with a
 * `LongAnswerError`.
 */
export function boundedFetch(bytesMax: number, deadline: AbortSignal) {
  return async (url: string, { signal, ...options }: FetchOptions): Promise<Response> => {
    const ends = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    const answer = await fetch(url, { ...options, redirect: 'manual', signal: ends });
    const body = await bytesOf(answer, bytesMax);
    const { status, statusText, headers } = answer;
    return new Response(body, { status, statusText, headers });
  };
}

/** `null` for an answer without a body, whose status may allow none. */
async function bytesOf({ body }: Response, bytesMax: number): Promise<Buffer<ArrayBuffer> | null> {
  if (body === null) return null;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop closes the connection.
    if (bytes > bytesMax) throw new LongAnswerError(`an answer of more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
