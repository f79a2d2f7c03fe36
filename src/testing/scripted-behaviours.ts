// The behaviours of the scripted engine: how it answers, or fails to.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Contained in the body, a header and the reason phrase of every failure: it must never get past the gateway. */
export const CANARY = 'canary-of-the-engine';

/** A request as received by the engine. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Number of the connection that it arrived on, starting at 1. */
  readonly connection: number;
  /** The connection was closed before the answer was complete; with `hang` and `slow`, by the caller. */
  aborted: boolean;
}

/** The body with which a well-behaved engine answers a request, depending on its protocol. */
export type RightAnswer = (request: ScriptedRequest) => string;

/** A custom behaviour of a test. */
export type Act = (request: ScriptedRequest, response: ServerResponse) => void;

/** Complete answers with status 200 that are wrong in one respect. */
const WRONG_BODIES = {
  not_json: () => `<html>${CANARY}</html>`,
  bad_utf8: () => Buffer.concat([Buffer.from(`{"translations":[{"text":"${CANARY}`), Buffer.from([0xc3, 0x28]), Buffer.from('"}]}')]),
  empty: () => '',
  not_an_object: () => `["${CANARY}"]`,
  no_translations: () => `{"message":"${CANARY}"}`,
  one_too_few: (request: ScriptedRequest) => withTranslations(okTranslations(request).slice(1)),
  one_too_many: (request: ScriptedRequest) => withTranslations([...okTranslations(request), { text: CANARY }]),
  text_not_string: (request: ScriptedRequest) => withTranslations(okTranslations(request).map(() => ({ text: 1, message: CANARY }))),
  entry_not_object: (request: ScriptedRequest) => withTranslations(okTranslations(request).map(() => CANARY)),
  detected_not_string: (request: ScriptedRequest) =>
    withTranslations(okTranslations(request).map(({ text }) => ({ text, detected_source_language: [CANARY] }))),
} satisfies Record<string, (request: ScriptedRequest) => string | Uint8Array>;

/** How an answer is sent over the wire, or not. */
const WIRE_ACTS = {
  /** Translates with `scriptedTranslation`. */
  ok: (request, response, _socket, right) => void response.writeHead(200, { 'content-type': 'application/json' }).end(right(request)),
  /** A correct answer; the connection is closed after it. */
  ok_then_close: (request, response, _socket, right) => void response.writeHead(200, { connection: 'close' }).end(right(request)),
  /** Accepts the request and never answers. */
  hang: () => undefined,
  hang_after_headers: (_request, _response, socket) => void socket.write(head('content-length: 100\r\n')),
  /** A correct answer, byte by byte, which would take many seconds. */
  drip: (request, response, _socket, right) => drip(right(request), response),
  /** A TCP reset instead of an answer. */
  reset: (_request, _response, socket) => void socket.resetAndDestroy(),
  reset_after_headers: (_request, _response, socket) =>
    void socket.write(`${head('content-length: 100\r\n')}{"tr`, () => socket.resetAndDestroy()),
  /** Closes the connection instead of answering. */
  close: (_request, _response, socket) => void socket.end(),
  /** Announces more than it sends. */
  truncate: (request, _response, socket, right) => void socket.end(`${head('content-length: 100000\r\n')}${right(request)}`),
  /** Without a length or chunks, and truncated. */
  partial_eof: (request, _response, socket, right) => void socket.end(`${head('connection: close\r\n')}${right(request).slice(0, -2)}`),
  /** Not HTTP at all. */
  garbage: (_request, _response, socket) => void socket.write(`${CANARY} \u0000 no protocol of ours\r\n\r\n`),
  /** Larger than any sensible limit: 64 MiB, as fast as it is read. */
  huge: (_request, response) => pour(response),
  huge_headers: (_request, _response, socket) => void socket.write(head(`x-huge: ${CANARY.repeat(10_000)}\r\ncontent-length: 0\r\n`)),
  redirect: (_request, response) => void response.writeHead(302, CANARY, { location: `/elsewhere/${CANARY}` }).end(CANARY),
} satisfies Record<string, (request: ScriptedRequest, response: ServerResponse, socket: Socket, right: RightAnswer) => void>;

export type NamedBehaviour = keyof typeof WRONG_BODIES | keyof typeof WIRE_ACTS;
export type Behaviour = NamedBehaviour | Act;

/** Performs one behaviour. Invalid HTTP bypasses the response and is written to the socket. */
export function act(
  behaviour: Behaviour,
  request: ScriptedRequest,
  response: ServerResponse,
  socket: Socket,
  right: RightAnswer = okBody,
): void {
  // Echoed as well-behaved engines do; a behaviour may override it. Raw socket writes carry no id.
  const id = request.headers['x-request-id'];
  if (id !== undefined) response.setHeader('x-request-id', id);
  if (typeof behaviour === 'function') behaviour(request, response);
  else if (isWrongBody(behaviour)) answer(WRONG_BODIES[behaviour](request))(request, response);
  else WIRE_ACTS[behaviour](request, response, socket, right);
}

/** Answers with a status and a JSON body, `{"message":CANARY}` by default. */
export function status(code: number, body = `{"message":"${CANARY}"}`): Act {
  return (_request, response) => {
    response.writeHead(code, CANARY, { 'content-type': 'application/json', 'x-canary': CANARY }).end(body);
  };
}

/** Answers with 200 and this body. */
export function answer(body: string | Uint8Array): Act {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-canary': CANARY }).end(body);
  };
}

/** Translates after a delay. */
export function slow(delayMs: number): Act {
  return (request, response) => {
    const timer = setTimeout(() => response.end(okBody(request)), delayMs);
    response.once('close', () => clearTimeout(timer));
  };
}

/** The translation that a well-behaved answer contains for a text. */
export function scriptedTranslation(text: string, targetLang: string): string {
  return `[${targetLang}] ${text}`;
}

function isWrongBody(behaviour: NamedBehaviour): behaviour is keyof typeof WRONG_BODIES {
  return Object.hasOwn(WRONG_BODIES, behaviour);
}

function okTranslations(request: ScriptedRequest): { readonly text: string; readonly detected_source_language?: string }[] {
  const work = JSON.parse(request.body) as { readonly text: string[]; readonly source_lang?: string; readonly target_lang: string };
  const detected = work.source_lang === undefined ? { detected_source_language: 'EN' } : {};
  return work.text.map((text) => ({ ...detected, text: scriptedTranslation(text, work.target_lang) }));
}

function okBody(request: ScriptedRequest): string {
  // A request that this protocol does not know, such as one for a list of languages.
  if (request.method === 'GET') return '{}';
  return JSON.stringify({ translations: okTranslations(request) });
}

function withTranslations(translations: readonly unknown[]): string {
  return JSON.stringify({ translations, message: CANARY });
}

function head(fields: string): string {
  return `HTTP/1.1 200 ${CANARY}\r\nx-canary: ${CANARY}\r\n${fields}\r\n`;
}

function drip(body: string, response: ServerResponse): void {
  const bytes = Buffer.from(body);
  response.writeHead(200, { 'content-length': bytes.length }).flushHeaders();
  let sent = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, ++sent));
    if (sent === bytes.length) response.end();
  }, 50);
  response.once('close', () => clearInterval(timer));
}

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(1 << 16, `${CANARY} `);
  let left = 1024;
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (left-- > 0 && !response.destroyed) {
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}
