// The admin API: handles a request on the ops listener, and answers JSON or a problem document.
import { hash } from 'node:crypto';
import { refuse } from '../core/problem.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';
import type { Refusal } from '../core/outcome.ts';
import { JSON_BODY_HEADERS, readJsonBody } from '../domain/json-body.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { OpsAnswer, OpsApp, OpsRequest } from '../ops/ops-listener.ts';
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
import { audited, changes, membersBeside, OTHER_REQUEST, RefusedError, refused } from './operation.ts';
import type { OperationAttempt } from './operation.ts';
import { actorOf } from './operators.ts';
import type { KnownOperator, Operators, RecentFailures } from './operators.ts';
import type { MatchedRoute } from './admin-routes.ts';

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
export class AdminApi implements OpsApp {
  readonly prefix = ADMIN_PREFIX;
  readonly bodyBytesMax = BODY_BYTES_MAX;
  readonly #options: AdminApiOptions;
  readonly #requests: IdempotentRequests;

  constructor(options: AdminApiOptions) {
    this.#options = options;
    const { idempotency, now } = options;
    this.#requests = new IdempotentRequests({ records: idempotency, now });
  }

  async handle(request: OpsRequest): Promise<OpsAnswer> {
    const requestId = this.#options.newId();
    const operator = this.#operatorOf(request);
    if ('kind' in operator) return this.#problem(operator, requestId);
    const matched = match(request.method, request.path.slice(ADMIN_PREFIX.length));
    if (!('route' in matched)) return this.#problem(matched, requestId);
    const { route } = matched;
    const looks = !changes(route.operation);
    if (!looks && operator.role !== 'manage') return this.#problem(MAY_ONLY_READ, requestId);
    const run = (id?: string, once?: ChangeOnce) => this.#run(matched, request, { operator, requestId, id, once });
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string' || looks) return (await run()).answer;
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
    if (result.kind === 'running') return this.#problem(STILL_RUNNING, requestId);
    return this.#problem(refusalOf(result.kind === 'other_request' ? OTHER_REQUEST : result), requestId);
  }

  tooLarge(request: OpsRequest): OpsAnswer {
    const tooLarge = refuse('validation_error', `body: may be at most ${this.bodyBytesMax} bytes long.`);
    const operator = this.#operatorOf(request);
    return this.#problem('kind' in operator ? operator : tooLarge, this.#options.newId());
  }

  #operatorOf(request: OpsRequest): KnownOperator | Refusal {
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const { operators, wrongTokens } = this.#options;
    const operator = token === undefined ? undefined : operators.byToken(token);
    return operator ?? (wrongTokens.add(request.remoteAddress) ? WAIT : WRONG_TOKEN);
  }

  async #run(
    { route, parameters }: MatchedRoute<AdminRoute>,
    request: OpsRequest,
    { operator, requestId, ...attempt }: RequestContext,
  ): Promise<Ran<OpsAnswer>> {
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

  #problem({ problem }: Refusal, requestId: string): OpsAnswer {
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
function sentIn({ query = {}, body, operation }: AdminRoute, request: OpsRequest): { readonly body: JsonMembers } | Refusal {
  const [accepted, names] = [Object.keys(query), [...request.query.keys()]];
  const foreign = names.find((name) => !accepted.includes(name));
  const known = accepted.length === 0 ? 'there are none' : `the known ones are ${accepted.join(', ')}`;
  if (foreign !== undefined) throw new RefusedError(refused(foreign, `is not a query parameter here; ${known}`));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new RefusedError(refused(twice, 'is given twice; give it once'));
  const isLeftOut = operation.bodyOptional === true && request.body.length === 0;
  if (body === undefined || isLeftOut) return { body: {} };
  const sent = JSON_BODY_HEADERS.map((name) => [name, request.headers[name]]).filter(([, value]) => value !== undefined);
  const read = readJsonBody(Object.fromEntries(sent) as Readonly<Record<string, string>>, request.body, BODY_BYTES_MAX);
  if (read.kind === 'refused') return read.refusal;
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { body: value as JsonMembers };
  throw new RefusedError(refused('body', 'must be a JSON object'));
}

/** What is stored of an answer. `body`: without what is shown only once. */
function ran(answer: OpsAnswer, body = () => answer.body, teamId?: unknown): Ran<OpsAnswer> {
  const stored = () => {
    const { status, contentType, headers: { 'X-Request-Id': _id, ...headers } = {} } = answer;
    return {
      answer: JSON.stringify({ status, contentType, body: body(), headers }),
      teamId: typeof teamId === 'string' ? teamId : undefined,
    };
  };
  return { answer, fate: fateOf(answer), stored };
}

function repeated(stored: string, requestId: string): OpsAnswer {
  const answer = JSON.parse(stored) as Pick<OpsAnswer, 'status' | 'contentType' | 'body' | 'headers'>;
  return { ...answer, headers: { ...answer.headers, 'X-Request-Id': requestId, [REPLAYED]: 'true' } };
}

/** By the path, if it says. A deletion removes what is remembered of its team, but not itself. */
function teamOf({ route: { id, path }, parameters }: MatchedRoute<AdminRoute>, recordId: string): string | undefined {
  if (id === 'createTeam') return recordId;
  return path.startsWith('/teams/{id}') && id !== 'deleteTeam' ? canonicalUlid(parameters['id'] ?? '') : undefined;
}

/** After a 5xx it is unknown whether anything was changed. */
function fateOf({ status }: OpsAnswer): Fate {
  if (status < 300) return 'stored';
  return status >= 500 ? 'unknown' : 'forgotten';
}
