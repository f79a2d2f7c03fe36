// The frame of every page of the console: head, navigation, notice, and the page's own part.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { assetPath } from './assets.ts';
import type { AssetName } from './assets.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { PageContent } from './console-route.ts';
import { signOutForm } from './form.ts';
import type { Session } from './sessions.ts';

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

interface Frame {
  readonly serviceName: string;
  /** `undefined` if nobody is signed in: then there is no navigation. */
  readonly visitor: (Pick<Session, 'operator' | 'formToken'> & { readonly gateway: string }) | undefined;
  readonly notice: Html | undefined;
}

/** The content security policy: styles, scripts, images and requests only from this listener, forms only to it. */
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
