// The admin API: handles a request on the ops listener, and answers JSON or a problem document.
import { hash } from 'node:crypto';
import { refuse } from '../core/problem.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';
import type { Refusal } from '../core/outcome.ts';
import { shownWord } from '../domain/caller-words.ts';
import type { Log } from '../ports/log.ts';
import type { ChangeOnce } from '../ports/team-registry.ts';
import { adminHandlers } from './admin-handlers.ts';
import type { HandlerParts, Input } from './admin-handlers.ts';
import { headerOf, match, readBody } from './admin-input.ts';
import type { AdminRequest } from './admin-input.ts';
import type { AdminOperations } from './admin-operations.ts';
import { bugRefusal, KEY_OF_ANOTHER, MAY_ONLY_READ, WAIT, WRONG_TOKEN } from './admin-refusals.ts';
import { ADMIN_PREFIX } from './admin-routes.ts';
import type { AdminRoute } from './admin-routes.ts';
import type { GlossaryOperations } from './glossary-operations.ts';
import { IDEMPOTENCY_KEY, IdempotentAnswers } from './idempotency.ts';
import type { Fate } from './idempotency.ts';
import { actorOf } from './operators.ts';
import type { KnownOperator, SignInAttempts } from './operators.ts';
import type { Download } from './usage-csv.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  /** Of a file; instead of `body`. */
  readonly pieces?: AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AdminApiOptions extends Omit<HandlerParts, 'forgetAnswers'> {
  readonly operations: AdminOperations;
  readonly glossaries: GlossaryOperations;
  readonly attempts: SignInAttempts;
  /** Called for each problem, because the documentation's URL is only known once every listener is open. */
  readonly problems: () => ProblemWriter;
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
  readonly #answered: IdempotentAnswers<AdminAnswer>;
  readonly #handlers: ReturnType<typeof adminHandlers>;

  constructor(options: AdminApiOptions) {
    this.#options = options;
    this.#answered = new IdempotentAnswers({ fateOf, newId: options.newId, now: options.now });
    // Earlier answers about a deleted team would stay in memory for an hour.
    const forgetAnswers = (teamId: string): void => this.#answered.forget(({ body }) => body.includes(teamId));
    this.#handlers = adminHandlers({ ...options, forgetAnswers });
  }

  async handle(request: AdminRequest): Promise<AdminAnswer> {
    const requestId = this.#options.newId();
    const operator = this.#operatorOf(request);
    if ('kind' in operator) return this.#problem(operator, requestId);
    const matched = match(request.method, request.path.slice(ADMIN_PREFIX.length));
    if (!('route' in matched)) return this.#problem(matched, requestId);
    const { route, parameter } = matched;
    const looks = route.method === 'GET' || route.looksOnly === true;
    if (!looks && operator.role !== 'manage') return this.#problem(MAY_ONLY_READ, requestId);
    const run = (id?: string, once?: ChangeOnce) => this.#run(route, parameter, request, { operator, requestId, id, once });
    const key = headerOf(request, 'idempotency-key');
    if (key === undefined || looks) return run();
    if (!IDEMPOTENCY_KEY.test(key)) {
      return this.#problem(refuse('validation_error', 'Idempotency-Key: must be 1 to 128 printable characters without spaces.'), requestId);
    }
    const what = `${request.method} ${request.path}?${request.query.toString()}\n${request.body.toString('latin1')}`;
    // The answers that a process keeps are lost with it, and other processes do not have them: changes of money are remembered in the store too.
    const once = { id: hash('sha256', key, 'hex'), request: hash('sha256', what, 'base64') };
    const answer = await this.#answered.run(key, what, (id) => run(id, once));
    return answer === 'mismatch' ? this.#problem(KEY_OF_ANOTHER, requestId) : answer;
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
    parameter: string,
    request: AdminRequest,
    { operator, requestId, id, once }: RequestContext,
  ): Promise<AdminAnswer> {
    const actor = actorOf('admin', operator, request.remoteAddress);
    try {
      const input = this.#inputOf(route, parameter, request);
      const operations = this.#options.operations.as(actor);
      const glossaries = this.#options.glossaries.as(actor);
      const handled = 'kind' in input ? input : await this.#handlers[route.id]({ ...input, operations, glossaries, id, once });
      if ('kind' in handled) return handled.kind === 'download' ? fileOf(handled, requestId) : this.#problem(handled, requestId);
      if (handled.audit !== undefined) {
        this.#options.log.info('audit', { action: route.id, ...handled.audit, actor, request_id: requestId });
      }
      if (route.answer === undefined) return emptyAnswer(handled.value as { readonly replicated?: boolean }, requestId);
      return {
        status: route.status,
        contentType: 'application/json',
        body: JSON.stringify(handled.value),
        headers: { 'X-Request-Id': requestId },
      };
    } catch (error) {
      return this.#problem(bugRefusal(this.#options.log, requestId, `admin ${route.id}`, error), requestId);
    }
  }

  #inputOf(
    route: AdminRoute,
    parameter: string,
    request: AdminRequest,
  ): Omit<Input, 'operations' | 'glossaries' | 'id' | 'once'> | Refusal {
    const accepted = new Set(Object.keys(route.query ?? {}));
    const names = [...request.query.keys()];
    const foreign = names.find((name) => !accepted.has(name));
    if (foreign !== undefined) return refuse('validation_error', `Unknown query parameter: ${shownWord(foreign)}.`);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) return refuse('validation_error', `${twice}: is given twice; give it once.`);
    if (route.body === undefined) return { parameter, body: {}, query: request.query };
    const body = readBody(request, route, route.body);
    return 'kind' in body ? body : { parameter, body: body.members, query: request.query };
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

/** The answer to a deletion has no body, only whether a replica has it. */
function emptyAnswer({ replicated }: { readonly replicated?: boolean }, requestId: string): AdminAnswer {
  const told = replicated === undefined ? {} : { 'Lingate-Replicated': String(replicated) };
  return { status: 204, contentType: undefined, body: '', headers: { 'X-Request-Id': requestId, ...told } };
}

function fileOf({ contentType, disposition, pieces }: Download, requestId: string): AdminAnswer {
  return { status: 200, contentType, body: '', pieces, headers: { 'X-Request-Id': requestId, 'Content-Disposition': disposition } };
}

/** After a 5xx it is unknown whether anything was changed. */
function fateOf({ status }: AdminAnswer): Fate {
  if (status < 300) return 'kept';
  return status >= 500 ? 'unknown' : 'forgotten';
}
