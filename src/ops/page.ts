// The frame of every page of the documentation: one self-contained document, readable without internet, light or dark.
import { html } from './html.ts';
import type { Html } from './html.ts';

export interface PageOptions {
  readonly title: string;
  readonly serviceName: string;
  /** Links of the page's own sections. */
  readonly sections: readonly { readonly anchor: string; readonly label: string }[];
  readonly current: 'reference' | 'errors';
  readonly main: Html;
}

export function page({ title, serviceName, sections, current, main }: PageOptions): string {
  const mark = (name: PageOptions['current']): Html | undefined => (current === name ? html` aria-current="page"` : undefined);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · ${serviceName}</title>
        <link rel="icon" href="data:," />
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <strong>${serviceName}</strong>
          <nav aria-label="Documents">
            <a href="/docs" ${mark('reference')}>API reference</a> <a href="/docs/errors" ${mark('errors')}>Errors</a>
            <a href="/openapi.json">OpenAPI</a>
          </nav>
        </header>
        <div class="columns">
          <nav class="sections" aria-label="On this page">
            <ul>
              ${sections.map(({ anchor, label }) => html`<li><a href="#${anchor}">${label}</a></li>`)}
            </ul>
          </nav>
          <main id="main">${main}</main>
        </div>
      </body>
    </html> `.text;
}

const STYLE = html`
  :root { color-scheme: light dark; --ink: light-dark(#1c2024, #e6e8eb); --soft: light-dark(#5b636b, #9ba3ab); --line: light-dark(#dfe3e6,
  #30363c); --paper: light-dark(#ffffff, #14171a); --panel: light-dark(#f6f7f8, #1c2024); --link: light-dark(#0b5cad, #7ab8f5); --good:
  light-dark(#18794e, #5ccf95); --bad: light-dark(#b42318, #f28b82); } * { box-sizing: border-box; } html { scroll-behavior: smooth;
  scroll-padding-top: 1rem; } body { margin: 0; font: 16px/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper); } a {
  color: var(--link); } a.skip { position: absolute; left: -99rem; } a.skip:focus { left: 1rem; top: 1rem; background: var(--paper);
  padding: .5rem; } header { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: baseline; padding: 1rem 1.5rem; border-bottom:
  1px solid var(--line); } header nav { display: flex; gap: 1.25rem; } header a { text-decoration: none; } header a[aria-current] { color:
  var(--ink); font-weight: 600; } .columns { display: grid; grid-template-columns: 16rem minmax(0, 52rem); gap: 2.5rem; padding: 0 1.5rem
  4rem; } nav.sections { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 1.5rem 0; font-size:
  .9rem; } nav.sections ul { list-style: none; margin: 0; padding: 0; } nav.sections li { margin: .15rem 0; overflow-wrap: anywhere; }
  nav.sections a { text-decoration: none; color: var(--soft); } nav.sections a:hover { color: var(--link); } h1 { font-size: 1.9rem;
  line-height: 1.25; margin: 1.5rem 0 .5rem; } h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; padding-top: 1.25rem; border-top: 1px solid
  var(--line); } h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; } code, pre { font: .875em/1.5 ui-monospace, Menlo, Consolas, monospace; }
  code { background: var(--panel); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere; } pre { background: var(--panel);
  border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow: auto; } pre code { background: none; padding: 0; }
  .scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; } th, td { text-align: left;
  vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 500; }
  .method { font-weight: 700; margin-right: .5rem; } .soft { color: var(--soft); } .yes { color: var(--good); } .no { color: var(--bad); }
  @media (max-width: 60rem) { .columns { grid-template-columns: minmax(0, 1fr); gap: 0; } nav.sections { position: static; max-height: none;
  } }
`;
