// The admin API: handles a request on the ops listener, and answers JSON or a problem document.
import { hash } from 'node:crypto';
import { refuse } from '../core/problem.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';
import type { Refusal } from '../core/outcome.ts';
import { shownWord } from '../domain/caller-words.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { IdempotencyRecords } from '../ports/idempotency-records.ts';
import type { Log } from '../ports/log.ts';
import type { ChangeOnce } from '../ports/team-registry.ts';
import type { Input } from './admin-handler.ts';
import { adminHandlers } from './admin-handlers.ts';
import type { HandlerParts } from './admin-handlers.ts';
import { headerOf, match, readBody } from './admin-input.ts';
import type { AdminRequest } from './admin-input.ts';
import type { AdminOperations } from './admin-operations.ts';
import { bugRefusal, MAY_ONLY_READ, refusalOf, refusalOfOperation, STILL_RUNNING, WAIT, WRONG_TOKEN } from './admin-refusals.ts';
import type { Handled } from './admin-refusals.ts';
import { ADMIN_PREFIX, REPLAYED } from './admin-routes.ts';
import type { HandledRouteId } from './admin-routes.ts';
import type { OperationContext } from './operation-context.ts';
import { audited, changes } from './operation.ts';
import type { AdminOperation } from './operation.ts';
import { answerTo } from './operation-http.ts';
import type { AdminRoute } from './operation-http.ts';
import { IDEMPOTENCY_KEY } from './idempotent-answers.ts';
import type { Fate } from './idempotent-answers.ts';
import { IdempotentRequests } from './idempotent-requests.ts';
import type { Ran } from './idempotent-requests.ts';
import { actorOf } from './operators.ts';
import type { KnownOperator, SignInAttempts } from './operators.ts';
import type { Download } from './csv.ts';

interface AdminAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  /** Of a file; instead of `body`. */
  readonly pieces?: AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface AdminApiOptions extends HandlerParts {
  readonly operations: AdminOperations;
  readonly attempts: SignInAttempts;
  /** Called for each problem, because the documentation's URL is only known once every listener is open. */
  readonly problems: () => ProblemWriter;
  readonly idempotency: IdempotencyRecords;
  readonly log: Log;
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface RequestContext extends Pick<Input, 'once'> {
  readonly operator: KnownOperator;
  readonly requestId: string;
  readonly id?: string | undefined;
}

/** An app of the ops listener. */
export class AdminApi {
  readonly prefix = ADMIN_PREFIX;
  readonly bodyBytesMax = 16_384;
  readonly #options: AdminApiOptions;
  readonly #requests: IdempotentRequests;
  readonly #handlers: ReturnType<typeof adminHandlers>;

  constructor(options: AdminApiOptions) {
    this.#options = options;
    const { idempotency, now } = options;
    this.#requests = new IdempotentRequests({ records: idempotency, now });
    this.#handlers = adminHandlers(options);
  }

  async handle(request: AdminRequest): Promise<AdminAnswer> {
    const requestId = this.#options.newId();
    const operator = this.#operatorOf(request);
    if ('kind' in operator) return this.#problem(operator, requestId);
    const matched = match(request.method, request.path.slice(ADMIN_PREFIX.length));
    if (!('route' in matched)) return this.#problem(matched, requestId);
    const { route, parameters } = matched;
    const looks = route.method === 'GET' || route.looksOnly === true;
    if (!looks && operator.role !== 'manage') return this.#problem(MAY_ONLY_READ, requestId);
    const run = (id?: string, once?: ChangeOnce) => this.#run(route, parameters, request, { operator, requestId, id, once });
    const key = headerOf(request, 'idempotency-key');
    if (key === undefined || looks) return (await run()).answer;
    if (!IDEMPOTENCY_KEY.test(key)) {
      return this.#problem(refuse('validation_error', 'Idempotency-Key: must be 1 to 128 printable characters without spaces.'), requestId);
    }
    const what = `${request.method} ${request.path}?${request.query.toString()}\n${request.body.toString('latin1')}`;
    // By the operator's name: nobody gets the answers of others, and a token can be replaced. Names have no line feed.
    const once = { id: hash('sha256', `${operator.name}\n${key}`, 'hex'), request: hash('sha256', what, 'base64') };
    const recordId = this.#options.newId();
    const teamId = teamOf(route, parameters, recordId);
    // If an answer was never kept, a change of a team is still made once, because the store remembers it with the change.
    const result = await this.#requests.run({ ...once, recordId, teamId }, (id) => run(id, once));
    switch (result.kind) {
      case 'ran':
        return result.answer;
      case 'answered':
        return repeated(result.answer, requestId);
      case 'running':
        return this.#problem(STILL_RUNNING, requestId);
      case 'other_request':
      case 'unavailable':
        return this.#problem(refusalOf(result), requestId);
    }
  }

  tooLarge(request: Pick<AdminRequest, 'headers' | 'remoteAddress'>): AdminAnswer {
    const tooLarge = refuse('validation_error', `body: may be at most ${this.bodyBytesMax} bytes long.`);
    const operator = this.#operatorOf(request);
    return this.#problem('kind' in operator ? operator : tooLarge, this.#options.newId());
  }

  #operatorOf(request: Pick<AdminRequest, 'headers' | 'remoteAddress'>): KnownOperator | Refusal {
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1];
    const judged = this.#options.attempts.judge(token, request.remoteAddress);
    if (judged === 'wrong') return WRONG_TOKEN;
    return judged === 'wait' ? WAIT : judged;
  }

  async #run(
    route: AdminRoute,
    parameters: Input['parameters'],
    request: AdminRequest,
    { operator, requestId, id, once }: RequestContext,
  ): Promise<Ran<AdminAnswer>> {
    const actor = actorOf('admin', operator, request.remoteAddress);
    try {
      const input = this.#inputOf(route, parameters, request);
      const handled = 'kind' in input ? input : await this.#handle(route, actor, { ...input, id, once });
      if ('kind' in handled) return ran(handled.kind === 'download' ? fileOf(handled, requestId) : this.#problem(handled, requestId));
      if (handled.audit !== undefined) {
        this.#options.log.info('audit', { action: route.id, ...handled.audit, actor, request_id: requestId });
      }
      // The record of a deletion must not name the team.
      const teamId = route.answer === undefined ? undefined : handled.audit?.['team_id'];
      const { status, shownOnce } = route;
      if (route.answer === undefined) return ran(emptyAnswer(handled.value as { readonly replicated?: boolean }, requestId));
      const headers = { 'X-Request-Id': requestId };
      const answer = { status, contentType: 'application/json', body: JSON.stringify(handled.value), headers };
      return ran(answer, () => (shownOnce === undefined ? answer.body : withoutMember(handled.value, shownOnce)), teamId);
    } catch (error) {
      return ran(this.#problem(bugRefusal(this.#options.log, requestId, `admin ${route.id}`, error), requestId));
    }
  }

  #handle(route: AdminRoute, actor: string, input: Omit<Input, 'operations'>): Promise<Handled> {
    const operations = this.#options.operations.as(actor);
    if (route.operation !== undefined) return handledBy(route.operation, operations.context, input);
    return this.#handlers[route.id as HandledRouteId]({ ...input, operations });
  }

  #inputOf(route: AdminRoute, parameters: Input['parameters'], request: AdminRequest): Omit<Input, 'operations' | 'id' | 'once'> | Refusal {
    const accepted = new Set(Object.keys(route.query ?? {}));
    const names = [...request.query.keys()];
    const foreign = names.find((name) => !accepted.has(name));
    if (foreign !== undefined) return refuse('validation_error', `Unknown query parameter: ${shownWord(foreign)}.`);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) return refuse('validation_error', `${twice}: is given twice; give it once.`);
    const isLeftOut = route.bodyOptional === true && request.body.length === 0;
    if (route.body === undefined || isLeftOut) return { parameters, body: {}, query: request.query };
    const body = readBody(request, route, route.body);
    return 'kind' in body ? body : { parameters, body: body.members, query: request.query };
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

async function handledBy(
  one: AdminOperation,
  context: OperationContext,
  { parameters, query, body, id, once }: Omit<Input, 'operations'>,
): Promise<Handled> {
  const { input, result } = await answerTo(one, context, { segments: parameters, query, body, attempt: { id, once } });
  if (result.kind === 'download') return result;
  if (result.kind !== 'done') return refusalOfOperation(result);
  const { value, replicated } = result;
  return {
    value: { ...(value as object), ...(replicated === undefined ? {} : { replicated }) },
    ...(changes(one) ? { audit: audited(one, input, result) } : {}),
  };
}

/** The answer to a deletion has no body, only whether a replica has it. */
function emptyAnswer({ replicated }: { readonly replicated?: boolean }, requestId: string): AdminAnswer {
  const told: Record<string, string> = replicated === undefined ? {} : { 'Lingate-Replicated': String(replicated) };
  return { status: 204, contentType: undefined, body: '', headers: { 'X-Request-Id': requestId, ...told } };
}

function fileOf({ contentType, disposition, pieces }: Download, requestId: string): AdminAnswer {
  return { status: 200, contentType, body: '', pieces, headers: { 'X-Request-Id': requestId, 'Content-Disposition': disposition } };
}

/** What is kept of an answer. `body`: without what is shown only once. */
function ran(answer: AdminAnswer, body = () => answer.body, teamId?: unknown): Ran<AdminAnswer> {
  const kept = () => {
    const { status, contentType, headers: { 'X-Request-Id': _id, ...headers } = {} } = answer;
    return {
      answer: JSON.stringify({ status, contentType, body: body(), headers }),
      teamId: typeof teamId === 'string' ? teamId : undefined,
    };
  };
  return { answer, fate: fateOf(answer), kept };
}

function repeated(kept: string, requestId: string): AdminAnswer {
  const answer = JSON.parse(kept) as Pick<AdminAnswer, 'status' | 'contentType' | 'body' | 'headers'>;
  return { ...answer, headers: { ...answer.headers, 'X-Request-Id': requestId, [REPLAYED]: 'true' } };
}

function withoutMember(value: unknown, name: string): string {
  return JSON.stringify(value, (member, part: unknown) => (member === name ? undefined : part));
}

/** The team that a request concerns, if its path says so. A deletion removes what is remembered of its team, but not itself. */
function teamOf({ id, path }: AdminRoute, parameters: Input['parameters'], recordId: string): string | undefined {
  if (id === 'createTeam') return recordId;
  return path.startsWith('/teams/{id}') && id !== 'deleteTeam' ? canonicalUlid(parameters['id'] ?? '') : undefined;
}

/** After a 5xx it is unknown whether anything was changed. */
function fateOf({ status }: AdminAnswer): Fate {
  if (status < 300) return 'kept';
  return status >= 500 ? 'unknown' : 'forgotten';
}
