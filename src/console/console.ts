// The console: the table of its pages (the navigation's sections are in layout.ts), and its app,
// which handles a request on the ops listener. Checks who may see a page, whether a form is ours,
// and that it takes effect once.
import { hash } from 'node:crypto';
import { MAY_ONLY_READ, refusalBy } from '../admin/admin-refusals.ts';
import { IDEMPOTENCY_KEY } from '../admin/idempotent-requests.ts';
import { actorOf } from '../admin/operators.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';
import { refuse } from '../core/problem.ts';
import { html } from '../docs/html.ts';
import type { OpsAnswer, OpsApp, OpsRequest } from '../ops/ops-listener.ts';
import { answerOf } from './layout.ts';
import { cookieOf, dropOldest, isSame, Sessions, SignInFormTokens } from './sessions.ts';
import { CONSOLE_BODY_BYTES_MAX, EMPTY_FORM, isFromHere, ONCE_FIELD, readForm, TOKEN_FIELD } from './form.ts';
import { PlanApplications } from './plan-applications.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, Visit } from './console-route.ts';
import type { Session } from './sessions.ts';
import { listAudit } from '../admin/operations/audit.ts';
import { listDocuments } from '../admin/operations/documents.ts';
import { listRequests } from '../admin/operations/requests.ts';
import { matchingOf } from '../admin/admin-routes.ts';
import { listPage } from './list-page.ts';
import { ASSET_ROUTES } from './assets.ts';
import { GLOSSARY_ROUTES } from './pages/glossaries.ts';
import { KEY_ROUTES } from './pages/key.ts';
import { SIGN_IN_ROUTES } from './pages/sign-in.ts';
import { OVERVIEW_ROUTES } from './pages/overview.ts';
import { PLANS_ROUTES } from './pages/plans.ts';
import { TAG_ROUTES } from './pages/tags.ts';
import { TEAM_ROUTES } from './pages/team.ts';
import { TEAMS_ROUTES } from './pages/teams.ts';
import { MONTH_ROUTES } from './pages/month-lists.ts';

const DOCUMENTS =
  "Files that teams have sent, until they expire. Neither their names nor their texts are shown: they are the customers'. Only the sender sees why a file was refused.";
const REQUESTS =
  'The latest that were refused, failed, or needed a second attempt. Each process keeps 1,000 refusals and 1,000 failures in memory; the log has all.';

/** Pages that are a list of rows and nothing else. */
const LIST_ROUTES: readonly ConsoleRoute[] = [
  listPage({ one: listRequests, section: 'requests', intro: REQUESTS }),
  listPage({ one: listDocuments, section: 'documents', intro: DOCUMENTS }),
  listPage({ one: listAudit, section: 'audit', of: 'Changes', pageSize: 25 }),
];

export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...OVERVIEW_ROUTES,
  ...TEAMS_ROUTES,
  ...TEAM_ROUTES,
  ...GLOSSARY_ROUTES,
  ...TAG_ROUTES,
  ...KEY_ROUTES,
  ...MONTH_ROUTES,
  ...LIST_ROUTES,
  ...PLANS_ROUTES,
];

const NO_PAGE = refuse('not_found', 'The console has no such page.');

/** By method and path as it was sent, without the prefix. HEAD is handled like GET. */
const pageAt = matchingOf(CONSOLE_ROUTES, {
  segment: () => '[A-Za-z0-9_-]{1,100}',
  what: 'page',
  methodsOf: ({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]),
});

interface ConsoleOptions extends Omit<ConsoleParts, 'sessions' | 'applications' | 'forget'> {
  readonly problems: () => ProblemWriter;
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The wall clock. */
  readonly nowMs: () => number;
}

/** A form that was sent: the same one gets the same answer, even before that is made. */
interface SentForm {
  readonly digest: string;
  readonly answer: Promise<ConsoleAnswer>;
}

/** A few megabytes; beyond this, the oldest answer is dropped. */
const SENT_MAX = 10_000;

const ELSEWHERE = refuse('forbidden', 'This form was sent from a page outside this console. Nothing was changed.');
const NOT_SIGNED_IN = refuse('forbidden', 'You are not signed in, or your session has ended: sessions last an hour. Nothing was changed.');
const STALE = refuse(
  'csrf_invalid',
  'The form was sent without its anti-forgery token, or with an old one. Open the page again. Nothing was changed.',
);
const PERHAPS_DONE = refuse(
  'service_unavailable',
  'The store did not answer in time, so it is unknown whether this was done. Check before you send the form again.',
);
const SENT_BEFORE = refuse('validation_error', 'This form was sent before, with other values. Open the page again.');

export class Console implements OpsApp {
  readonly prefix = CONSOLE_PREFIX;
  readonly bodyBytesMax = CONSOLE_BODY_BYTES_MAX;
  readonly #options: ConsoleOptions;
  readonly #parts: ConsoleParts;
  readonly #signInTokens: SignInFormTokens;
  /** By session and form. */
  readonly #sent = new Map<string, SentForm>();

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#signInTokens = new SignInFormTokens(options.now);
    this.#parts = {
      ...options,
      sessions: new Sessions(options.operators, options.now),
      applications: new PlanApplications(options.nowMs),
      forget: (teamId) => this.#forget(teamId),
    };
  }

  /** Answers that lead to a team's page are dropped; that of its deletion leads to the list. */
  #forget(teamId: string): void {
    for (const [key, { answer }] of this.#sent) {
      void answer.then((made) => made.kind === 'see' && made.to.includes(teamId) && this.#sent.delete(key));
    }
  }

  async handle(request: OpsRequest): Promise<OpsAnswer> {
    const requestId = this.#options.newId();
    const session = this.#parts.sessions.find(cookieOf(request.headers.cookie));
    const answer = await this.#judged(request, session, requestId);
    return this.#written(request, session, answer, requestId);
  }

  tooLarge(request: OpsRequest): OpsAnswer {
    const session = this.#parts.sessions.find(cookieOf(request.headers.cookie));
    const refusal = refuse('validation_error', `body: may be at most ${CONSOLE_BODY_BYTES_MAX} bytes long.`);
    return this.#written(request, session, refusal, this.#options.newId());
  }

  async #judged(request: OpsRequest, session: Session | undefined, requestId: string): Promise<ConsoleAnswer> {
    const matched = pageAt(request.method, request.path.slice(CONSOLE_PREFIX.length)) ?? NO_PAGE;
    if ('kind' in matched) return matched;
    const { route, parameters } = matched;
    if (route.method === 'POST' && !isFromHere(request)) return ELSEWHERE;
    if (route.access === 'signed-in' && session === undefined) {
      return route.method === 'GET' ? { kind: 'see', to: '/sign-in' } : NOT_SIGNED_IN;
    }
    if (route.access === 'signed-in' && route.changes && session?.operator.role !== 'manage') return MAY_ONLY_READ;
    const read = route.method === 'POST' ? readForm(request) : { form: EMPTY_FORM };
    if ('kind' in read) return read;
    const { form } = read;
    if (route.method === 'POST' && !this.#isOurs(form(TOKEN_FIELD), route, session)) return STALE;
    const formToken = session?.formToken ?? this.#signInTokens.next();
    const nowMs = this.#options.nowMs();
    const visit: Visit = { ...this.#parts, request, requestId, parameters, form, formToken, session, nowMs };
    return this.#once(visit, () => this.#run(route, visit));
  }

  /** Those open to everyone take the sign-in token too: the page may be from before a sign-in. */
  #isOurs(token: string, { access }: ConsoleRoute, session: Session | undefined): boolean {
    if (session !== undefined && isSame(token, session.formToken)) return true;
    return access === 'everybody' && this.#signInTokens.isGood(token);
  }

  /** Sent twice, by a double click or going back, it takes effect once, and says so. */
  async #once({ request, form, session }: Visit, run: () => Promise<ConsoleAnswer>): Promise<ConsoleAnswer> {
    const name = form(ONCE_FIELD);
    if (session === undefined || !IDEMPOTENCY_KEY.test(name)) return run();
    const key = `${session.id} ${name}`;
    const digest = hash('sha256', `${request.path}\n${request.body.toString('latin1')}`, 'base64');
    const before = this.#sent.get(key);
    if (before === undefined) {
      const answer = run();
      this.#sent.set(key, { digest, answer });
      dropOldest(this.#sent, SENT_MAX);
      // What was refused may be sent again.
      if ((await answer).kind !== 'see') this.#sent.delete(key);
      return answer;
    }
    if (before.digest !== digest) return SENT_BEFORE;
    const answer = await before.answer;
    if (answer.kind !== 'see' || answer.notice === undefined) return answer;
    return {
      ...answer,
      notice: html`${answer.notice}
        <p>The form was sent more than once; it took effect once.</p>`,
    };
  }

  async #run(route: ConsoleRoute, visit: Visit): Promise<ConsoleAnswer> {
    const { session } = visit;
    try {
      if (route.access === 'everybody') return await route.handle(visit);
      if (session === undefined) return NOT_SIGNED_IN;
      const actor = actorOf('console', session.operator, visit.request.remoteAddress);
      return await route.handle({ ...visit, session, context: visit.context.as(actor) });
    } catch (error) {
      const refusal = refusalBy(error, this.#options.log, visit.requestId, `console ${route.method} ${route.path}`);
      return refusal.problem.code === 'service_unavailable' && route.method === 'POST' ? PERHAPS_DONE : refusal;
    }
  }

  #written(request: OpsRequest, session: Session | undefined, answer: ConsoleAnswer, requestId: string): OpsAnswer {
    const { problems, serviceName, gateway } = this.#options;
    return answerOf(answer, { request, requestId, session, serviceName: serviceName(), gateway, problems: problems() });
  }
}
