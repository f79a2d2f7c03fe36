// The frame of every documentation page: one document that loads nothing, light or dark.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Html, html } from './html.ts';

interface PageOptions {
  readonly title: string;
  readonly serviceName: string;
  readonly current: PageName;
  /** Links of the page's own sections. */
  readonly groups: readonly SectionGroup[];
  readonly main: Html;
}

type PageName = 'reference' | 'errors';

export interface SectionGroup {
  readonly label: string;
  readonly sections: readonly { readonly anchor: string; readonly label: string; readonly tag?: Html }[];
}

/** Relative, because a proxy may serve the pages below its own path. */
export const links: Readonly<Record<PageName, Readonly<Record<PageName | 'openapi', string>>>> = {
  reference: { reference: 'docs', errors: 'docs/errors', openapi: 'openapi.json' },
  errors: { reference: '../docs', errors: 'errors', openapi: '../openapi.json' },
};

const STYLE = fileBeside('base.css') + fileBeside('pages.css');
const SCRIPT = fileBeside('copy.js');

/** The content security policy: only the pages' own style and script. */
export const PAGE_SECURITY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  `script-src ${sourceHash(SCRIPT)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

// Their hashes are of exactly these characters, so there must be no white space in between.
const style = new Html(`<style>${STYLE}</style>`);
const script = new Html(`<script>${SCRIPT}</script>`);

export function page({ title, serviceName, current, groups, main }: PageOptions): string {
  const to = links[current];
  const mark = (name: PageName): Html | undefined => (current === name ? html` aria-current="page"` : undefined);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · ${serviceName}</title>
        <link rel="icon" href="data:," />
        ${style}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <strong>${serviceName}</strong>
          <nav aria-label="Documents">
            <a href="${to.reference}" ${mark('reference')}>API reference</a>
            <a href="${to.errors}" ${mark('errors')}>Errors</a>
            <a href="${to.openapi}">OpenAPI</a>
          </nav>
        </header>
        <div class="columns">
          <nav class="sections" aria-label="On this page">${groups.map((group) => sectionGroup(group))}</nav>
          <main id="main">${main}</main>
        </div>
        ${script}
      </body>
    </html> `.text;
}

function sectionGroup({ label, sections }: SectionGroup): Html {
  return html`<p>${label}</p>
    <ul>
      ${sections.map(({ anchor, label: name, tag }) => html`<li><a href="#${anchor}">${tag}${name}</a></li>`)}
    </ul>`;
}

function fileBeside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

function sourceHash(source: string): string {
  return `'sha256-${hash('sha256', source, 'base64')}'`;
}
