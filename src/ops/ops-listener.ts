// The operator's listener: plain node:http with fixed pages and apps; not for the public network.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse, IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** By path; each gets the query and the `Accept` field. */
export type OpsPages = Readonly<Record<string, (query: URLSearchParams) => OpsAnswer | Promise<OpsAnswer>>>;

interface OpsListenerOptions extends OpsContent {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/** What the listener answers. */
export interface OpsContent {
  readonly pages: OpsPages;
  /** For commands on this machine, under one of these names: to anybody else they are not there. */
  readonly local?: { readonly pages: OpsPages; readonly names: readonly string[] } | undefined;
  readonly apps?: readonly OpsApp[];
  /** To every other path; a 404 that lists the pages by default. */
  readonly otherwise?: OpsAnswer;
  /**
   * Names, besides IP addresses and `localhost`; `undefined` allows all. A browser that was led
   * here by another name (DNS rebinding) gets a 421.
   */
  readonly names?: readonly string[] | undefined;
}

export interface OpsListener {
  readonly address: { readonly host: string; readonly port: number };
  /** Serves this from the next request on. */
  show(content: OpsContent): void;
  close(): Promise<void>;
}

/** The address cannot be listened on. The message is one line that says what to do. */
class OpsListenError extends Error {
  // The command line prints messages of errors with this name, whichever listener they come from.
  override name = 'ListenError';
}

/** Rejects with a `ListenError`. */
export async function startOpsListener(options: OpsListenerOptions): Promise<OpsListener> {
  const { host, port } = options;
  let shown: OpsContent = options;
  const server = createServer(
    { keepAliveTimeout: 5000, requestTimeout: 10_000 },
    (request, response) => void respond(shown, request, response),
  );
  await listen(server, host, port);
  const { port: actual } = server.address() as AddressInfo;
  return { address: { host, port: actual }, show: (content) => void (shown = content), close: () => close(server) };
}

async function respond(content: OpsContent, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await send(response, await answerTo(content, incoming));
  } catch {
    if (response.headersSent) return;
    await send(response, plain(500, 'Internal error.\n'));
  }
}

async function answerTo({ pages, local, apps = [], otherwise, names }: OpsContent, incoming: IncomingMessage): Promise<OpsAnswer> {
  const [path = '', query = ''] = splitOnce(incoming.url ?? '', '?');
  const isLocal = local !== undefined && Object.hasOwn(local.pages, path) && isFromHere(incoming);
  const own = isLocal ? local.names : names;
  if (own !== undefined && !isCalledByOwnName(incoming, own)) {
    incoming.resume();
    return plain(421, 'This is not a name of this listener. An operator can add it to ops_names in the configuration.\n');
  }
  if (isLocal) {
    incoming.resume();
    return local.pages[path]!(new URLSearchParams(query));
  }
  const app = apps.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
  if (app !== undefined) return answerOf(app, path, query, incoming);
  incoming.resume();
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return otherwise ?? plain(404, `There is no such page. The pages are ${Object.keys(pages).join(', ')}.\n`);
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return page(new URLSearchParams(query));
  return { ...plain(405, 'Only GET.\n'), headers: { Allow: 'GET, HEAD' } };
}

async function answerOf(app: OpsApp, path: string, query: string, incoming: IncomingMessage): Promise<OpsAnswer> {
  const body = await collect(incoming, app.bodyBytesMax);
  const request: OpsRequest = {
    method: incoming.method ?? '',
    path,
    query: new URLSearchParams(`?${query}`),
    headers: incoming.headers,
    body: body ?? Buffer.alloc(0),
    remoteAddress: incoming.socket.remoteAddress ?? '',
  };
  if (body !== undefined) return app.handle(request);
  const answer = app.tooLarge(request);
  // If the body was not read completely, the connection ends with the answer.
  return incoming.complete ? answer : { ...answer, headers: { ...answer.headers, Connection: 'close' } };
}

/** So often the limit is read, so that the caller can read the answer; then it is closed. */
const DROP_FACTOR = 8;

/** `undefined` for a body over the limit, the rest of which is read and dropped. */
async function collect(incoming: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax * DROP_FACTOR) break;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks);
}

/** False also for a request with two `Host` headers. */
function isCalledByOwnName({ headersDistinct }: IncomingMessage, names: readonly string[]): boolean {
  const hosts = headersDistinct['host'] ?? [];
  return hosts.length === 1 && isOwnName(hosts[0]!, names);
}

/** A literal IP address is always accepted: DNS rebinding needs a name. */
function isOwnName(host: string, names: readonly string[]): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || name === 'localhost' || names.some((own) => own.toLowerCase() === name);
}

/** Whether the caller is a process of this machine. */
function isFromHere({ socket: { remoteAddress = '', localAddress } }: IncomingMessage): boolean {
  return remoteAddress === localAddress || /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress);
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function plain(status: number, body: string): OpsAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}

/** How long a caller may take nothing of a file before the connection is closed. */
const STALL_MS = 60_000;

/** Rejects if reading the pieces of a body fails; the connection is then closed. */
async function send(
  response: ServerResponse,
  { status, contentType, body, pieces, security, headers, cookies = [] }: OpsAnswer,
): Promise<void> {
  if (response.headersSent) return;
  for (const cookie of cookies) response.appendHeader('Set-Cookie', cookie);
  response.writeHead(status, {
    ...(contentType === undefined ? {} : { 'Content-Type': contentType }),
    'Cache-Control': 'no-store',
    ...securityFields(security),
    ...headers,
  });
  if (pieces === undefined || response.req.method === 'HEAD') {
    response.end(body);
    return;
  }
  response.setTimeout(STALL_MS, () => response.destroy());
  // One piece at a time: the next one is read when this one has been taken.
  await pipeline(Readable.from(pieces, { highWaterMark: 1 }), response);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${error.code})`;
      reject(new OpsListenError(`ops: ${host}:${port} ${why}; choose another with --ops HOST:PORT`));
    });
    server.listen({ host, port, exclusive: true }, resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export interface OpsRequest {
  readonly method: string;
  /** The raw path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Complete; at most the app's `bodyBytesMax`. */
  readonly body: Buffer;
  /** Of the connection; empty if that is already closed. */
  readonly remoteAddress: string;
}

export interface OpsAnswer {
  readonly status: number;
  /** `undefined` for an answer without a body. */
  readonly contentType: string | undefined;
  readonly body: string | Buffer;
  /** Instead of `body`, as it is read. A failure closes the connection. */
  readonly pieces?: AsyncIterable<string>;
  /** `Content-Security-Policy`; without it nothing may load or run. */
  readonly security?: string;
  /** Further headers; their values never contain unchecked request data. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, instead of one in `headers`. */
  readonly cookies?: readonly string[];
}

const NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";

/** The headers of every page; `security` as in `OpsAnswer`. */
export function securityFields(security = NOTHING_RUNS): Readonly<Record<string, string>> {
  return { 'X-Content-Type-Options': 'nosniff', 'Content-Security-Policy': security, 'Referrer-Policy': 'no-referrer' };
}

/** Handles all paths that begin with `prefix`. */
export interface OpsApp {
  /** `/admin/v1`: this path and everything below it. */
  readonly prefix: string;
  readonly bodyBytesMax: number;
  /** A rejection is answered 500 without details: operators must not see all. */
  handle(request: OpsRequest): Promise<OpsAnswer>;
  /** For a body over `bodyBytesMax`. */
  tooLarge(request: OpsRequest): OpsAnswer;
}
