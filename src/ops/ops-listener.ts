// The operator's own listener: plain node:http, a fixed set of pages, never on the public side.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OpsPage {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** `Content-Security-Policy`; without it nothing may load or run. */
  readonly security?: string;
}

/** By path. */
export type OpsPages = Readonly<Record<string, () => OpsPage | Promise<OpsPage>>>;

export interface OpsListener {
  readonly address: { readonly host: string; readonly port: number };
  close(): Promise<void>;
}

/** The address cannot be listened on. Its message is one line that says what to do. */
export class OpsListenError extends Error {
  // The command line shows errors of this name to people as they are, whichever listener they come from.
  override name = 'ListenError';
}

const NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";

export async function startOpsListener(host: string, port: number, pages: OpsPages): Promise<OpsListener> {
  const server = createServer(
    { keepAliveTimeout: 5000, requestTimeout: 10_000 },
    (request, response) => void answer(pages, request, response),
  );
  await listen(server, host, port);
  const { port: actual } = server.address() as AddressInfo;
  return { address: { host, port: actual }, close: () => close(server) };
}

async function answer(pages: OpsPages, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0]!;
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  request.resume();
  if (page === undefined) return send(response, plain(404, `There is no such page. There are ${Object.keys(pages).join(', ')}.\n`));
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response.setHeader('Allow', 'GET, HEAD'), plain(405, 'Only GET.\n'));
  try {
    send(response, await page());
  } catch {
    send(response, plain(500, 'This page could not be made.\n'));
  }
}

function plain(status: number, body: string): OpsPage {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}

function send(response: ServerResponse, { status, contentType, body, security }: OpsPage): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': security ?? NOTHING_RUNS,
    'Referrer-Policy': 'no-referrer',
  });
  response.end(body);
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
