// The admin API: handles a request on the ops listener, and answers JSON or a problem document.
import { hash } from 'node:crypto';
import { refuse } from '../core/problem.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';
import type { Refusal } from '../core/outcome.ts';
import { JSON_BODY_HEADERS, readJsonBody, shownWord } from '../domain/json-body.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { IdempotencyRecords } from '../ports/idempotency-records.ts';
import type { Log } from '../ports/log.ts';
import type { ChangeOnce } from '../ports/team-registry.ts';
import type { JsonMembers } from '../domain/json-body.ts';
import { MAY_ONLY_READ, refusalBy, refusalOf, STILL_RUNNING, WAIT, WRONG_TOKEN } from './admin-refusals.ts';
import { ADMIN_PREFIX, match, REPLAYED } from './admin-routes.ts';
import { IDEMPOTENCY_KEY, IdempotentRequests } from './idempotent-requests.ts';
import type { Fate, Ran } from './idempotent-requests.ts';
import type { OperationContext } from './operation-context.ts';
import { answerTo } from './operation-http.ts';
import type { AdminRoute } from './operation-http.ts';
import { audited, changes, membersBeside, OTHER_REQUEST } from './operation.ts';
import type { OperationAttempt } from './operation.ts';
import { actorOf } from './operators.ts';
import type { KnownOperator, Operators, RecentFailures } from './operators.ts';
import type { MatchedRoute } from './admin-routes.ts';

interface AdminRequest {
  readonly method: string;
  /** Includes the prefix `/admin/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  readonly remoteAddress: string;
}

interface AdminAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  /** Of a file; instead of `body`. */
  readonly pieces?: AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface AdminApiOptions {
  readonly context: OperationContext;
  readonly operators: Operators;
  readonly wrongTokens: RecentFailures;
  /** For each problem: the documentation's URL is known once every listener is open. */
  readonly problems: () => ProblemWriter;
  readonly idempotency: IdempotencyRecords;
  readonly log: Log;
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface RequestContext extends OperationAttempt {
  readonly operator: KnownOperator;
  readonly requestId: string;
}

const BODY_BYTES_MAX = 16_384;

/** An app of the ops listener. */
export class AdminApi {
  readonly prefix = ADMIN_PREFIX;
  readonly bodyBytesMax = BODY_BYTES_MAX;
  readonly #options: AdminApiOptions;
  readonly #requests: IdempotentRequests;

  constructor(options: AdminApiOptions) {
    this.#options = options;
    const { idempotency, now } = options;
    this.#requests = new IdempotentRequests({ records: idempotency, now });
  }

  async handle(request: AdminRequest): Promise<AdminAnswer> {
    const requestId = this.#options.newId();
    const operator = this.#operatorOf(request);
    if ('kind' in operator) return this.#problem(operator, requestId);
    const matched = match(request.method, request.path.slice(ADMIN_PREFIX.length));
    if (!('route' in matched)) return this.#problem(matched, requestId);
    const { route } = matched;
    const looks = !changes(route.operation);
    if (!looks && operator.role !== 'manage') return this.#problem(MAY_ONLY_READ, requestId);
    const run = (id?: string, once?: ChangeOnce) => this.#run(matched, request, { operator, requestId, id, once });
    const key = headerOf(request, 'idempotency-key');
    if (key === undefined || looks) return (await run()).answer;
    if (!IDEMPOTENCY_KEY.test(key)) {
      return this.#problem(refuse('validation_error', 'Idempotency-Key: must be 1 to 128 printable characters without spaces.'), requestId);
    }
    const what = `${request.method} ${request.path}?${request.query.toString()}\n${request.body.toString('latin1')}`;
    // By the operator's name: nobody gets others' answers, and a token can be replaced.
    const once = { id: hash('sha256', `${operator.name}\n${key}`, 'hex'), request: hash('sha256', what, 'base64') };
    const recordId = this.#options.newId();
    const teamId = teamOf(matched, recordId);
    // Without a stored answer a change of a team is made once: the store remembers it with the
    // change.
    const result = await this.#requests.run({ ...once, recordId, teamId }, (id) => run(id, once));
    if (result.kind === 'ran') return result.answer;
    if (result.kind === 'answered') return repeated(result.answer, requestId);
    const refused = result.kind === 'other_request' ? OTHER_REQUEST : result;
    return this.#problem(refused.kind === 'running' ? STILL_RUNNING : refusalOf(refused), requestId);
  }

  tooLarge(request: Pick<AdminRequest, 'headers' | 'remoteAddress'>): AdminAnswer {
    const tooLarge = refuse('validation_error', `body: may be at most ${this.bodyBytesMax} bytes long.`);
    const operator = this.#operatorOf(request);
    return this.#problem('kind' in operator ? operator : tooLarge, this.#options.newId());
  }

  #operatorOf(request: Pick<AdminRequest, 'headers' | 'remoteAddress'>): KnownOperator | Refusal {
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1];
    const { operators, wrongTokens } = this.#options;
    const operator = token === undefined ? undefined : operators.byToken(token);
    return operator ?? (wrongTokens.add(request.remoteAddress) ? WAIT : WRONG_TOKEN);
  }

  async #run(
    { route, parameters }: MatchedRoute<AdminRoute>,
    request: AdminRequest,
    { operator, requestId, ...attempt }: RequestContext,
  ): Promise<Ran<AdminAnswer>> {
    const { operation: one, status } = route;
    const { context, log } = this.#options;
    const actor = actorOf('admin', operator, request.remoteAddress);
    const id = { 'X-Request-Id': requestId };
    try {
      const sent = sentIn(route, request);
      if ('kind' in sent) return ran(this.#problem(sent, requestId));
      const asked = { segments: parameters, query: request.query, body: sent.body, attempt };
      const { input, result } = await answerTo(one, context.as(actor), asked);
      if (result.kind === 'download') {
        const { contentType, disposition, pieces } = result;
        return ran({ status: 200, contentType, body: '', pieces, headers: { ...id, 'Content-Disposition': disposition } });
      }
      const members = changes(one) ? audited(one, input, result) : undefined;
      if (members !== undefined) log.info('audit', { action: one.id, ...members, actor, request_id: requestId });
      const { replicated } = result;
      if (route.answer === undefined) {
        // Without a body a field says whether a replica has it.
        const headers: Record<string, string> = { ...id, ...(replicated !== undefined && { 'Lingate-Replicated': String(replicated) }) };
        return ran({ status: 204, contentType: undefined, body: '', headers });
      }
      const value = { ...(result.value as object), ...membersBeside(result) };
      const shown = () => JSON.stringify(value, (member, part: unknown) => (member === one.shownOnce ? undefined : part));
      return ran({ status, contentType: 'application/json', body: JSON.stringify(value), headers: id }, shown, members?.['team_id']);
    } catch (error) {
      return ran(this.#problem(refusalBy(error, log, requestId, `admin ${one.id}`), requestId));
    }
  }

  #problem({ problem }: Refusal, requestId: string): AdminAnswer {
    const { status, headers, body } = this.#options.problems().render(problem, requestId);
    return {
      status,
      contentType: 'application/problem+json',
      body,
      headers: { ...Object.fromEntries(headers), 'X-Request-Id': requestId },
    };
  }
}

/** The body; a query that the route does not take is refused. */
function sentIn(route: AdminRoute, request: AdminRequest): { readonly body: JsonMembers } | Refusal {
  const accepted = new Set(Object.keys(route.query ?? {}));
  const names = [...request.query.keys()];
  const foreign = names.find((name) => !accepted.has(name));
  if (foreign !== undefined)
    return refuse('validation_error', `${shownWord(foreign)}: is not a query parameter here${takenText(accepted)}.`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return refuse('validation_error', `${twice}: is given twice; give it once.`);
  const isLeftOut = route.operation.bodyOptional === true && request.body.length === 0;
  return route.body === undefined || isLeftOut ? { body: {} } : readBody(request);
}

function takenText(accepted: ReadonlySet<string>): string {
  return accepted.size === 0 ? '; there are none' : `; the known ones are ${[...accepted].join(', ')}`;
}

function readBody(request: AdminRequest): { readonly body: JsonMembers } | Refusal {
  const sent = JSON_BODY_HEADERS.flatMap((name) => [[name, headerOf(request, name)] as const]);
  const fields = Object.fromEntries(sent.filter((field): field is [(typeof field)[0], string] => field[1] !== undefined));
  const read = readJsonBody(fields, request.body, BODY_BYTES_MAX);
  if (read.kind === 'refused') return read.refusal;
  const { value } = read;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { body: value as JsonMembers } : refuse('validation_error', 'body: must be a JSON object.');
}

/** `undefined` if the header is absent or was sent twice. */
function headerOf({ headers }: Pick<AdminRequest, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** What is stored of an answer. `body`: without what is shown only once. */
function ran(answer: AdminAnswer, body = () => answer.body, teamId?: unknown): Ran<AdminAnswer> {
  const stored = () => {
    const { status, contentType, headers: { 'X-Request-Id': _id, ...headers } = {} } = answer;
    return {
      answer: JSON.stringify({ status, contentType, body: body(), headers }),
      teamId: typeof teamId === 'string' ? teamId : undefined,
    };
  };
  return { answer, fate: fateOf(answer), stored };
}

function repeated(stored: string, requestId: string): AdminAnswer {
  const answer = JSON.parse(stored) as Pick<AdminAnswer, 'status' | 'contentType' | 'body' | 'headers'>;
  return { ...answer, headers: { ...answer.headers, 'X-Request-Id': requestId, [REPLAYED]: 'true' } };
}

/** By the path, if it says. A deletion removes what is remembered of its team, but not itself. */
function teamOf({ route: { id, path }, parameters }: MatchedRoute<AdminRoute>, recordId: string): string | undefined {
  if (id === 'createTeam') return recordId;
  return path.startsWith('/teams/{id}') && id !== 'deleteTeam' ? canonicalUlid(parameters['id'] ?? '') : undefined;
}

/** After a 5xx it is unknown whether anything was changed. */
function fateOf({ status }: AdminAnswer): Fate {
  if (status < 300) return 'stored';
  return status >= 500 ? 'unknown' : 'forgotten';
}
