// The frame of every documentation page: one document that loads nothing, light or dark.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Html, html } from './html.ts';

interface PageOptions {
  readonly title: string;
  readonly serviceName: string;
  readonly current: PageName;
  readonly introduction: Html;
  readonly groups: readonly SectionGroup[];
}

type PageName = 'reference' | 'errors';

/** Sections under one heading, on the page and among its links. */
export interface SectionGroup {
  readonly label: string;
  /** Above the sections. */
  readonly heading?: Html;
  readonly sections: readonly PageSection[];
}

export interface PageSection {
  /** Its anchor. */
  readonly id: string;
  readonly label: string;
  /** Before the label, in the link. */
  readonly tag?: Html;
  readonly content: Html;
}

/** A section with its samples beside it; its title is the label by default. */
export function entry({ id, label, tag, title = label, level, content, samples }: Entry): PageSection {
  const link = html`<a href="#${id}">${title}</a>`;
  const heading = level === 2 ? html`<h2 id="${id}-title">${link}</h2>` : html`<h3 id="${id}-title">${link}</h3>`;
  return {
    id,
    label,
    tag,
    content: html`<section id="${id}" class="entry" aria-labelledby="${id}-title">
      <div>${heading} ${content}</div>
      <div class="samples">${samples}</div>
    </section>`,
  };
}

interface Entry extends PageSection {
  readonly title?: Html | string;
  /** Of its heading; 3 by default. */
  readonly level?: 2;
  readonly samples: Html | readonly Html[];
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

export function page({ title, serviceName, current, introduction, groups }: PageOptions): string {
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
          <nav class="sections" aria-label="On this page">${groups.map(linksTo)}</nav>
          <main id="main">
            <h1>${title}</h1>
            ${introduction} ${groups.map(({ heading, sections }) => html`${heading} ${sections.map(({ content }) => content)}`)}
          </main>
        </div>
        ${script}
      </body>
    </html> `.text;
}

function linksTo({ label: name, sections }: SectionGroup): Html {
  return html`<p>${name}</p>
    <ul>
      ${sections.map(({ id, label, tag }) => html`<li><a href="#${id}">${tag}${label}</a></li>`)}
    </ul>`;
}

function fileBeside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

function sourceHash(source: string): string {
  return `'sha256-${hash('sha256', source, 'base64')}'`;
}
