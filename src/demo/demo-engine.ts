// The engine of `lingate demo`: a phrasebook behind the native protocol, over real HTTP.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { detectLanguage, translateByPhrasebook } from './word-translation.ts';
import { isJsonObject } from '../engines/protocols/json-call.ts';
import type { JsonObject } from '../engines/protocols/json-call.ts';

/** More than the gateway ever sends: its own body limit plus a glossary. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

interface DemoEngine {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface. */
export async function startDemoEngine(): Promise<DemoEngine> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // So that the gateway can match the answer to its request.
  const id = request.headers['x-request-id'];
  if (id !== undefined) response.setHeader('x-request-id', id);
  if (request.method !== 'POST' || request.url !== '/translate') return send(response, 404, { error: 'the only path is POST /translate' });
  let work: unknown;
  try {
    work = JSON.parse(await bodyOf(request));
  } catch {
    // If the caller has disconnected, nobody reads this.
    return send(response, 400, { error: 'the body is not JSON' });
  }
  const translations = isJsonObject(work) ? translate(work) : undefined;
  if (translations === undefined) return send(response, 400, { error: 'text must be a list of strings, target_lang a string' });
  send(response, 200, { translations });
}

function translate(work: JsonObject): readonly object[] | undefined {
  const { text, source_lang: source, target_lang: target, glossary } = work;
  if (!Array.isArray(text) || !text.every((entry) => typeof entry === 'string') || typeof target !== 'string') return undefined;
  const entries = isJsonObject(glossary) && isJsonObject(glossary['entries']) ? (glossary['entries'] as Record<string, string>) : {};
  return text.map((entry) => {
    const detected = typeof source === 'string' ? source : detectLanguage(entry);
    return { detected_source_language: detected, text: translateByPhrasebook(entry, detected, target, entries) };
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
