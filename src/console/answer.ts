// Turns a page's answer into a response: the frame, security headers, and problems as pages or as documents.
import type { Refusal } from '../core/outcome.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';
import type { Problem } from '../core/problem.ts';
import { html } from '../docs/html.ts';
import type { OpsAnswer, OpsRequest } from '../ops/ops-listener.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleAnswer, PageContent } from './console-route.ts';
import { CONSOLE_SECURITY, page } from './layout.ts';
import type { Session } from './sessions.ts';

interface Surroundings {
  readonly request: OpsRequest;
  readonly requestId: string;
  readonly session: Session | undefined;
  readonly serviceName: string;
  readonly gateway: string;
  readonly problems: ProblemWriter;
}

const HTML = 'text/html; charset=utf-8';
/** The query parameter that names a notice to show; its text stays in the session. */
const NOTICE = 'notice';
const GUARDS = {
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // With the listener's `no-referrer`, browsers would send forms with `Origin: null`.
  'Referrer-Policy': 'same-origin',
} as const;

export function answerOf(answer: ConsoleAnswer, around: Surroundings): OpsAnswer {
  const guards = { ...GUARDS, 'X-Request-Id': around.requestId };
  switch (answer.kind) {
    case 'page': {
      const { content, status = 200, headers = [], cookies = [] } = answer;
      return { ...written(content, status, around), headers: { ...guards, ...Object.fromEntries(headers) }, cookies };
    }
    case 'leave': {
      const { url, cookies } = answer;
      return { status: 303, contentType: undefined, body: '', headers: { ...guards, Location: url }, cookies };
    }
    case 'see': {
      const { to, notice, headers = [] } = answer;
      const seen = notice === undefined || around.session === undefined ? '' : `?${NOTICE}=${around.session.leave(notice)}`;
      const Location = `${CONSOLE_PREFIX}${withQuery(to, seen)}`;
      return { status: 303, contentType: undefined, body: '', headers: { ...guards, ...Object.fromEntries(headers), Location } };
    }
    case 'json':
      return { status: 200, contentType: 'application/json', body: JSON.stringify(answer.value), headers: guards };
    case 'file': {
      const { contentType, body } = answer;
      return { status: 200, contentType, body, headers: { ...guards, 'Cache-Control': 'private, max-age=31536000, immutable' } };
    }
    case 'download': {
      const { contentType, disposition, pieces } = answer;
      return { status: 200, contentType, body: '', pieces, headers: { ...guards, 'Content-Disposition': disposition } };
    }
    case 'problem':
      return problemOf(answer, around, guards);
  }
}

function withQuery(to: string, query: string): string {
  return to.includes('?') ? `${to}${query.replace('?', '&')}` : `${to}${query}`;
}

/** A page if `Accept` names `text/html`, otherwise a problem document. */
function problemOf(refusal: Refusal, around: Surroundings, guards: Readonly<Record<string, string>>): OpsAnswer {
  const { status, headers, body } = around.problems.render(refusal.problem, around.requestId);
  const fields = { ...guards, ...Object.fromEntries(headers) };
  if (!(around.request.headers.accept ?? '').includes('text/html')) {
    return { status, contentType: 'application/problem+json', body, headers: fields };
  }
  return { ...written(errorPage(refusal.problem, around.requestId), status, around), headers: fields };
}

function written(content: PageContent, status: number, { request, session, serviceName, gateway }: Surroundings): OpsAnswer {
  const notice = request.method === 'GET' ? session?.take(request.query.get(NOTICE) ?? '') : undefined;
  const visitor = content.leadsTo === undefined && session !== undefined ? { ...session, gateway } : undefined;
  const body = page(content, { serviceName, visitor, notice });
  return { status, contentType: HTML, body, security: CONSOLE_SECURITY };
}

function errorPage({ code, detail, kind: { title } }: Problem, requestId: string): PageContent {
  return {
    title,
    main: html`<h1>${title}</h1>
      <p>${detail}</p>
      <p><a href="${CONSOLE_PREFIX}">Back to the console</a></p>
      <p class="soft"><code>${code}</code>, request <code>${requestId}</code></p>`,
  };
}
