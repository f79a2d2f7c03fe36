// /docs/errors: one anchor per code, which is what problem `type` URIs point at.
import { anchorOf, problems } from '../core/problem.ts';
import type { ProblemCode, ProblemKind } from '../core/problem.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import { page } from './page.ts';
import { fieldSchemas, problemExample } from './problem-examples.ts';

export function errorsPage(serviceName: string, docsUrl: string): string {
  const codes = Object.keys(problems) as ProblemCode[];
  return page({
    title: 'Errors',
    serviceName,
    current: 'errors',
    sections: codes.map((code) => ({ anchor: anchorOf(code), label: code })),
    main: html`<h1>Errors</h1>
      <p>
        Every failure is a 4xx or 5xx answer with the media type <code>application/problem+json</code> (RFC 9457). <code>code</code> is the
        contract: it never changes its meaning. <code>detail</code> is for people and may change at any time. A failed request is never
        charged. When you write to us about one, give its <code>request_id</code>.
      </p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Code</th>
              <th scope="col">Try again?</th>
            </tr>
          </thead>
          <tbody>
            ${codes.map(
              (code) =>
                html`<tr>
                  <td>${problems[code].status}</td>
                  <td>
                    <a href="#${anchorOf(code)}"><code>${code}</code></a>
                  </td>
                  <td>${retry(problems[code])}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${codes.map((code) => section(code, docsUrl))}`,
  });
}

function section(code: ProblemCode, docsUrl: string): Html {
  const kind: ProblemKind = problems[code];
  return html`<section id="${anchorOf(code)}" aria-labelledby="${anchorOf(code)}-title">
    <h2 id="${anchorOf(code)}-title"><code>${code}</code></h2>
    <p><strong>${kind.status} ${kind.title}.</strong> ${kind.meaning}</p>
    ${kind.dashboardOnly ? html`<p class="soft">Only the dashboard answers this; no route of the API does.</p>` : undefined}
    <p>Try again? ${retry(kind)}</p>
    ${kind.fields.length === 0 ? undefined : fieldsTable(kind.fields)}
    ${
      kind.headers.length === 0
        ? undefined
        : html`<h3>Response fields</h3>
            <p>${kind.headers.map((name) => html`<code>${name}</code> `)}</p>`
    }
    <h3>Example</h3>
    <pre><code>${JSON.stringify(problemExample(code, docsUrl), null, 2)}</code></pre>
  </section>`;
}

function retry(kind: ProblemKind): Html {
  if (!kind.retry) return html`<span class="no">No.</span> Not unchanged: it would fail again.`;
  const wait = kind.headers.includes('Retry-After')
    ? html` Wait for <code>Retry-After</code> seconds, then back off.`
    : html` Once, then ask for support.`;
  return html`<span class="yes">Yes.</span>${wait}`;
}

function fieldsTable(names: readonly string[]): Html {
  const rows = names.map((name) => {
    const { type, description } = fieldSchemas[name] as { readonly type: string; readonly description: string };
    return html`<tr>
      <td><code>${name}</code></td>
      <td>${type}</td>
      <td>${prose(description)}</td>
    </tr>`;
  });
  return html`<h3>Additional members</h3>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}
