// The frame of every page of the console, and the response that a page's answer becomes: security
// headers, and problems as pages or as documents.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { assetPath } from './assets.ts';
import type { AssetName } from './assets.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { PageContent, ConsoleAnswer } from './console-route.ts';
import { problemLink } from './cells.ts';
import { signOutForm } from './form.ts';
import type { Session } from './sessions.ts';
import type { Refusal } from '../core/outcome.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';
import type { Problem } from '../core/problem.ts';
import type { OpsAnswer, OpsRequest } from '../ops/ops-listener.ts';

/** The sections of the console, in the order of the navigation. */
const SECTIONS = [
  { id: 'overview', href: '', label: 'Overview' },
  { id: 'teams', href: '/teams', label: 'Teams' },
  { id: 'usage', href: '/usage', label: 'Usage' },
  { id: 'invoices', href: '/invoices', label: 'Invoices' },
  { id: 'requests', href: '/requests', label: 'Requests' },
  { id: 'documents', href: '/documents', label: 'Documents' },
  { id: 'plans', href: '/plans', label: 'Plans' },
  { id: 'audit', href: '/audit', label: 'Audit' },
] as const;

export type Section = (typeof SECTIONS)[number]['id'];

export function titleOf(section: Section): string {
  return SECTIONS.find(({ id }) => id === section)!.label;
}

interface Frame {
  readonly serviceName: string;
  /** `undefined` if nobody is signed in: then there is no navigation. */
  readonly visitor: (Pick<Session, 'operator' | 'formToken'> & { readonly gateway: string }) | undefined;
  readonly notice: Html | undefined;
}

/** Styles, scripts, images and requests only from this listener, forms only to it. */
export const CONSOLE_SECURITY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

export function page({ title, main, section, assets = [], leadsTo }: PageContent, { serviceName, visitor, notice }: Frame): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · ${serviceName} console</title>
        <link rel="icon" href="data:," />
        ${leadsTo === undefined ? undefined : html`<meta http-equiv="refresh" content="0; url=${leadsTo}" />`}
        ${(['console.css', ...assets] as const).map(loaded)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <strong>${serviceName}</strong>
          ${visitor === undefined ? undefined : navigation(section, visitor)}
        </header>
        <main id="main" tabindex="-1">
          ${notice === undefined ? undefined : html`<div class="notice" role="status">${notice}</div>`} ${main}
        </main>
      </body>
    </html> `.text;
}

function loaded(name: AssetName): Html {
  const path = CONSOLE_PREFIX + assetPath(name);
  return name.endsWith('.css') ? html`<link rel="stylesheet" href="${path}" />` : html`<script type="module" src="${path}"></script>`;
}

function navigation(current: Section | undefined, { operator, formToken, gateway }: NonNullable<Frame['visitor']>): Html {
  const links = SECTIONS.map(({ id, href, label }) => {
    const mark = id === current ? html` aria-current="page"` : undefined;
    return html`<li><a href="${CONSOLE_PREFIX}${href}" ${mark}>${label}</a></li>`;
  });
  return html`<nav aria-label="Console">
      <ul>
        ${links}
      </ul>
    </nav>
    <p class="visitor">${operator.name}, may ${operator.role === 'manage' ? 'change' : 'only read'}, at ${gateway}</p>
    ${signOutForm(formToken)}`;
}

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
    case 'see': {
      const { to, notice, cookies } = answer;
      const seen = notice && around.session && `${to.includes('?') ? '&' : '?'}${NOTICE}=${around.session.leave(notice)}`;
      const Location = to === '' || to.startsWith('/') ? `${CONSOLE_PREFIX}${to}${seen ?? ''}` : to;
      return { status: 303, contentType: undefined, body: '', headers: { ...guards, Location }, cookies };
    }
    case 'file': {
      const { contentType, body, keeps } = answer;
      const caching = keeps && { 'Cache-Control': 'private, max-age=31536000, immutable' };
      return { status: 200, contentType, body, headers: { ...guards, ...caching } };
    }
    case 'download': {
      const { contentType, disposition, pieces } = answer;
      return { status: 200, contentType, body: '', pieces, headers: { ...guards, 'Content-Disposition': disposition } };
    }
    case 'problem':
      return problemOf(answer, around, guards);
  }
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
  const isSignedIn = content.leadsTo === undefined && session !== undefined;
  const visitor = isSignedIn ? { operator: session.operator, formToken: session.formToken, gateway } : undefined;
  const body = page(content, { serviceName, visitor, notice });
  return { status, contentType: HTML, body, security: CONSOLE_SECURITY };
}

function errorPage({ code, detail, kind: { title } }: Problem, requestId: string): PageContent {
  return {
    title,
    main: html`<h1>${title}</h1>
      <p>${detail}</p>
      <p><a href="${CONSOLE_PREFIX}">Back to the console</a></p>
      <p class="soft">${problemLink(code, html`<code>${code}</code>`)}, request <code>${requestId}</code></p>`,
  };
}
