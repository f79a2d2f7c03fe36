// The ways in which the scripted engine answers, and does not answer.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Stands in the body, a header and the status text of every failure: it must never be seen on the gateway's other side. */
export const CANARY = 'canary-of-the-engine';

/** A request as the engine saw it. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as sent. */
  readonly body: string;
  /** Number of the connection it came over, from 1. */
  readonly connection: number;
  /** The connection was closed before the answer was complete; with `hang` and `slow` that was the caller. */
  aborted: boolean;
}

/** The body with which a sound engine answers a request, by its protocol. */
export type RightAnswer = (request: ScriptedRequest) => string;

/** A behaviour of a test's own. */
export type Act = (request: ScriptedRequest, response: ServerResponse) => void;

/** Complete answers with status 200 that are wrong in one point. */
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

/** How an answer goes over the wire, or does not. */
const WIRE_ACTS = {
  /** Translates by `scriptedTranslation`. */
  ok: (request, response, _socket, right) => void response.writeHead(200, { 'content-type': 'application/json' }).end(right(request)),
  /** A right answer; the connection is closed behind it. */
  ok_then_close: (request, response, _socket, right) => void response.writeHead(200, { connection: 'close' }).end(right(request)),
  /** Takes the request and never answers. */
  hang: () => undefined,
  hang_after_headers: (_request, _response, socket) => void socket.write(head('content-length: 100\r\n')),
  /** A right answer, byte by byte, that would take many seconds. */
  drip: (request, response, _socket, right) => drip(right(request), response),
  /** RST instead of an answer. */
  reset: (_request, _response, socket) => void socket.resetAndDestroy(),
  reset_after_headers: (_request, _response, socket) =>
    void socket.write(`${head('content-length: 100\r\n')}{"tr`, () => socket.resetAndDestroy()),
  /** FIN instead of an answer. */
  close: (_request, _response, socket) => void socket.end(),
  /** Announces more than it sends. */
  truncate: (request, _response, socket, right) => void socket.end(`${head('content-length: 100000\r\n')}${right(request)}`),
  /** No length, no chunks, and ends in the middle. */
  partial_eof: (request, _response, socket, right) => void socket.end(`${head('connection: close\r\n')}${right(request).slice(0, -2)}`),
  /** No HTTP at all. */
  garbage: (_request, _response, socket) => void socket.write(`${CANARY} \u0000 no protocol of ours\r\n\r\n`),
  /** More than any sensible limit: 64 MiB, as fast as it is read. */
  huge: (_request, response) => pour(response),
  huge_headers: (_request, _response, socket) => void socket.write(head(`x-huge: ${CANARY.repeat(10_000)}\r\ncontent-length: 0\r\n`)),
  redirect: (_request, response) => void response.writeHead(302, CANARY, { location: `/elsewhere/${CANARY}` }).end(CANARY),
} satisfies Record<string, (request: ScriptedRequest, response: ServerResponse, socket: Socket, right: RightAnswer) => void>;

export type NamedBehaviour = keyof typeof WRONG_BODIES | keyof typeof WIRE_ACTS;
export type Behaviour = NamedBehaviour | Act;

/** Behaves once. What is no valid HTTP goes past the response to the socket. */
export function act(
  behaviour: Behaviour,
  request: ScriptedRequest,
  response: ServerResponse,
  socket: Socket,
  right: RightAnswer = okBody,
): void {
  // As sound engines do; a behaviour may say otherwise. What goes past the response has no id.
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

/** Translates after a while. */
export function slow(delayMs: number): Act {
  return (request, response) => {
    const timer = setTimeout(() => response.end(okBody(request)), delayMs);
    response.once('close', () => clearTimeout(timer));
  };
}

/** What a well-behaved answer holds for a text. */
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
  // A question that this protocol does not know, such as one for a list of languages.
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
