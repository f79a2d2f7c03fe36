// /docs/errors: one anchor per code, to which problem `type` URIs point.
import { anchorOf, problems, problemsWith } from '../core/problem.ts';
import type { ProblemCode, ProblemKind } from '../core/problem.ts';
import { ProblemWriter } from '../core/problem-writer.ts';
import { answerSample } from './code-sample.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import { exampleOf, headers, REQUEST_ID } from './openapi-schemas.ts';
import { codesOf } from './openapi-document.ts';
import type { OpenApiOptions } from './openapi-document.ts';
import { operationsOf } from './operations.ts';
import { entry, links, page } from './page.ts';
import type { PageSection } from './page.ts';
import { schemaTable, scrolledTable, rowOf } from './schema-table.ts';
import type { Row } from './schema-table.ts';

/** The words for what the operator's dashboard answers besides. */
const BY_DASHBOARD = {
  meaning: `${problems.forbidden.meaning} On the dashboard: not signed in, no team selected, not a member, or the role is missing.`,
  advice: `${problems.forbidden.advice} On the dashboard, sign in with a role that may do this.`,
};

/** A code as shown on the page. */
interface CodeEntry {
  readonly code: string;
  /** In the words of whoever answers it. */
  readonly kind: ProblemKind;
  readonly sentBy: Html;
}

/** The codes that this gateway, its plugins, or the operator's dashboard can answer. */
function rowsOf(options: OpenApiOptions): readonly CodeEntry[] {
  const hasDashboard = options.dashboardUrl !== undefined;
  return [
    ...problemsWith({ documents: true, dashboard: hasDashboard }).map((code) => {
      const kind = code === 'forbidden' && hasDashboard ? { ...problems.forbidden, ...BY_DASHBOARD } : problems[code];
      return { code, kind, sentBy: sentBy(code, kind, options) };
    }),
    ...Array.from(options.pluginApis.problems, ([code, { plugin, kind }]) => {
      return { code, kind, sentBy: html`<p class="soft">A code of the plugin <code>${plugin}</code>.</p>` };
    }),
  ];
}

export function errorsPage(options: OpenApiOptions): string {
  const rows = rowsOf(options);
  const all = html`<section id="all">
    <h2><a href="#all">All codes</a></h2>
    ${overview(rows)}
  </section>`;
  return page({
    title: 'Errors',
    serviceName: options.serviceName,
    current: 'errors',
    introduction: html`<p class="lede">
        Every failure is a 4xx or 5xx answer with the media type <code>application/problem+json</code> (RFC 9457). A failed request is never
        charged.
      </p>
      <p>
        <code>code</code> is the contract: its meaning never changes. <code>detail</code> is for people and may change at any time, so match
        on <code>code</code>. Treat unknown members as optional. When you contact support, give the <code>request_id</code>.
      </p>`,
    groups: [
      { label: 'Start', sections: [{ id: 'all', label: 'All codes', content: all }] },
      { label: 'Codes', sections: rows.map((row) => sectionOf(row, options)) },
    ],
  });
}

function overview(rows: readonly CodeEntry[]): Html {
  const lines = rows.map(({ code, kind }) => [
    html`<a href="#${anchorOf(code)}"><code>${code}</code></a>`,
    String(kind.status),
    retry(code, kind),
    prose(kind.meaning),
  ]);
  return scrolledTable('All codes', ['Code', 'Status', 'Try again?', 'When'], lines);
}

function sectionOf({ code, kind, sentBy: senders }: CodeEntry, options: OpenApiOptions): PageSection {
  const known = headers(options);
  const members = Object.entries(kind.members).map(([name, { schema, optional }]): Row => ({
    ...rowOf(name, schema, schema.description),
    required: !optional,
  }));
  const fields = kind.headers.map((name): Row => ({ ...rowOf(name, known[name]!.schema, known[name]!.description), required: true }));
  return entry({
    id: anchorOf(code),
    label: code,
    tag: statusTag(kind),
    title: html`<code>${code}</code>`,
    content: html`<p>${statusTag(kind)} ${kind.title}. ${prose(kind.meaning)}</p>
      <h4>Try again?</h4>
      <p>${retry(code, kind)} ${prose(kind.advice)}</p>
      ${titledTable(code, 'Additional members', members)} ${titledTable(code, 'Response headers', fields)} ${senders}`,
    samples: sampleOf(code, kind, options),
  });
}

function titledTable(code: string, title: string, rows: readonly Row[]): Html | undefined {
  if (rows.length === 0) return undefined;
  return html`<h4>${title}</h4>
    ${schemaTable(`${code}: ${title.toLowerCase()}`, 'answer', rows)}`;
}

function statusTag({ status }: ProblemKind): Html {
  return html`<span class="tag">${status}</span>`;
}

function retry(code: string, kind: ProblemKind): Html {
  if (!kind.retry) return html`<span class="no">No.</span>`;
  return code === 'internal_error' ? html`<span class="once">Once.</span>` : html`<span class="yes">Yes.</span>`;
}

function sentBy(code: ProblemCode, { to }: ProblemKind, { dashboardUrl, hasDocuments }: OpenApiOptions): Html {
  if (to === 'dashboard')
    return html`<p class="soft">Only <a href="${dashboardUrl}">the dashboard</a> answers this; no route of the API does.</p>`;
  if (to === 'unmatched') return html`<p class="soft">Answered before the key is checked.</p>`;
  const all = Object.entries(operationsOf(hasDocuments));
  const senders = all.filter(([, operation]) => codesOf(operation).includes(code));
  if (senders.length === all.length) return html`<p class="soft">Any route may answer this.</p>`;
  if (senders.length === all.filter(([, { authenticated }]) => authenticated).length)
    return html`<p class="soft">Any route that needs a key may answer this.</p>`;
  if (senders.length === 0) return html`<p class="soft">Only routes of documents answer this, which are off here.</p>`;
  return html`<h4>Answered by</h4>
    <ul class="plain">
      ${senders.map(([name, { id }]) => html`<li><a href="${links.errors.reference}#${id}">${name}</a></li>`)}
    </ul>`;
}

/** As the gateway writes it. */
function sampleOf(code: string, kind: ProblemKind, { serviceName, docsUrl }: OpenApiOptions): Html {
  const written = new ProblemWriter(docsUrl, serviceName).render(exampleOf(code, kind), REQUEST_ID);
  const fields = [['Content-Type', 'application/problem+json'], ['X-Request-Id', REQUEST_ID], ...written.headers] as const;
  return answerSample('Example', written.status, fields, JSON.parse(written.body));
}
