// Turns an outcome into status, fields and body, validated and ready for either library to write.
import { STATUS_CODES } from 'node:http';
import type { Exchange } from '../core/exchange.ts';
import { JSON_TYPE } from '../core/outcome.ts';
import type { HeaderList, Refusal, Reply, StreamReply } from '../core/outcome.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';

/** What goes on the wire, except for `Date`, `Content-Length` and `Connection`, which the writer adds. */
export interface ResponseMessage {
  readonly status: number;
  readonly requestId: string;
  /** `undefined` if there is no body. */
  readonly contentType: string | undefined;
  readonly headers: HeaderList;
  /** It may be stored, and must be revalidated before each use. */
  readonly revalidated: boolean;
  readonly body: string | Uint8Array;
}

/** The same for a streamed answer. */
export interface StreamHead extends Omit<ResponseMessage, 'body'> {
  /** Length of the body; `undefined` means chunked. */
  readonly bytes: number | undefined;
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** Throws if a field is not safe to send: uWS would write a line break verbatim, which splits the response. */
export function compose(outcome: Reply | Refusal, x: Exchange, problems: ProblemWriter): ResponseMessage {
  if (outcome.kind === 'problem') return composeProblem(outcome, x, problems);
  const { status, contentType, headers, body } = outcome;
  const revalidated = x.route.revalidated === true;
  return { status, requestId: x.id, contentType, headers: checked(contentType, headers, x), revalidated, body };
}

function composeProblem({ problem }: Refusal, x: Exchange, problems: ProblemWriter): ResponseMessage {
  const { problemForm: form } = x.route;
  const { status, headers, body } =
    form === undefined ? problems.render(problem, x.id) : problems.renderAs(form, problem, x.id, x.head.query);
  if (!Number.isInteger(status) || status < 400 || status > 599) throw new Error('a problem form gives a status from 400 to 599');
  const contentType = form?.contentType ?? 'application/problem+json';
  return { status, requestId: x.id, contentType, headers: checked(form?.contentType, headers, x), revalidated: false, body };
}

/** Throws like `compose`. */
export function composeHead({ status, contentType, headers, bytes }: StreamReply, x: Exchange): StreamHead {
  return { status, requestId: x.id, contentType, headers: checked(contentType, headers, x), revalidated: false, bytes };
}

/** The outcome's own fields, and those added to every answer to this request. */
function checked(contentType: string | undefined, own: HeaderList, { responseHeaders }: Exchange): HeaderList {
  if (contentType !== undefined && contentType !== JSON_TYPE && !VALUE.test(contentType))
    throw new Error('Content-Type contains a character that is not allowed in a field');
  const all = responseHeaders.length === 0 ? own : [...own, ...responseHeaders];
  for (const [name, value] of all) {
    if (!NAME.test(name)) throw new Error('the name of a response field is not a token');
    if (!VALUE.test(value)) throw new Error(`response field ${name} contains a character that is not allowed in a field`);
  }
  return all;
}

/** `404 Not Found`. */
export function statusLine(status: number): string {
  return STATUS_LINES.get(status) ?? `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}

const STATUS_LINES = new Map(Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text ?? ''}`]));

/** The whole answer as text, for a connection whose parser has failed: it always closes. */
export function serialise(answer: ResponseMessage): string {
  const fields = [
    ...fieldsOf(answer),
    ['Date', new Date().toUTCString()],
    ['Connection', 'close'],
    ['Content-Length', String(Buffer.byteLength(answer.body))],
  ];
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusLine(answer.status)}\r\n${lines.join('')}\r\n${String(answer.body)}`;
}

/** The fields common to all answers, then its own. */
export function fieldsOf(answer: Omit<ResponseMessage, 'body'>): [name: string, value: string][] {
  const fields: [string, string][] = [
    ['X-Request-Id', answer.requestId],
    ['Cache-Control', answer.revalidated ? 'no-cache' : 'no-store'],
  ];
  if (answer.contentType !== undefined) fields.push(['Content-Type', answer.contentType]);
  for (const [name, value] of answer.headers) fields.push([name, value]);
  return fields;
}
