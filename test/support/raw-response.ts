// Parses one HTTP/1.1 response from a connection's bytes, strictly: what clients could not read is an error.

export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  /** As they arrived. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** By lower-case name; repeated ones are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** One field's value; the name's case does not matter. */
  header(name: string): string | undefined;
  readonly body: string;
  /** The body as it arrived. */
  readonly bytes: Uint8Array;
  /** The body as JSON; throws if it is not JSON. */
  json(): unknown;
}

/** `undefined` if more bytes are needed. `length` is the number of bytes of the response. */
export function readResponse(bytes: Buffer, head: boolean, ended: boolean): { response: HttpResponse; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, status, statusText = ''] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(statusLine) ?? [];
  if (status === undefined) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
  const rawHeaders = lines.map((line) => fieldOf(line));
  const headers: Record<string, string> = {};
  for (const [name, value] of rawHeaders) {
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  const bodyless = head || status.startsWith('1') || status === '204' || status === '304';
  const rest = bytes.subarray(end + 4);
  const content = bodyless ? { body: Buffer.alloc(0), length: 0 } : readBody(rest, headers, ended);
  if (content === undefined) return undefined;
  const body = content.body.toString('utf8');
  const json = (): unknown => JSON.parse(body);
  const header = (name: string): string | undefined => headers[name.toLowerCase()];
  const response = { status: Number(status), statusText, rawHeaders, headers, header, body, bytes: content.body, json };
  return { response, length: end + 4 + content.length };
}

function fieldOf(line: string): [name: string, value: string] {
  const [, name, value] = /^([^\s:]+):[\t ]*(.*?)[\t ]*$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`not a field line: ${JSON.stringify(line)}`);
  return [name, value];
}

interface Content {
  readonly body: Buffer;
  readonly length: number;
}

function readBody(rest: Buffer, headers: Readonly<Record<string, string>>, ended: boolean): Content | undefined {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(rest);
  const announced = headers['content-length'];
  if (announced === undefined) return ended ? { body: rest, length: rest.byteLength } : undefined;
  if (!/^\d+$/.test(announced)) throw new Error(`not a Content-Length: ${announced}`);
  const length = Number(announced);
  return rest.byteLength < length ? undefined : { body: rest.subarray(0, length), length };
}

function readChunks(rest: Buffer): Content | undefined {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error(`not a chunk size: ${JSON.stringify(rest.toString('latin1', at, lineEnd))}`);
    if (size === 0) {
      // Trailer fields may precede it.
      const end = rest.indexOf('\r\n\r\n', lineEnd);
      return end === -1 ? undefined : { body: Buffer.concat(pieces), length: end + 4 };
    }
    const next = lineEnd + 2 + size + 2;
    if (rest.byteLength < next) return undefined;
    pieces.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
