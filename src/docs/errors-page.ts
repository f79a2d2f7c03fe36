// /docs/errors: one anchor per code, to which problem `type` URIs point.
import { anchorOf, problems, problemsWith } from '../core/problem.ts';
import type { ProblemCode, ProblemKind } from '../core/problem.ts';
import type { LoadedProblem } from '../ports/plugin-route.ts';
import { answerSample, entrySection } from './code-sample.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import { exampleOf, headerExamples, HEADERS } from './openapi-schemas.ts';
import { codesOf } from './openapi-document.ts';
import { operationsOf } from './operations.ts';
import { links, page } from './page.ts';
import { schemaTable, scrolledTable, rowOf } from './schema-table.ts';
import type { Row } from './schema-table.ts';

/** The words for what the operator's dashboard answers besides. */
const BY_DASHBOARD = {
  meaning: `${problems.forbidden.meaning} On the dashboard: not signed in, no team selected, not a member, or the role is missing.`,
  advice: `${problems.forbidden.advice} On the dashboard, sign in with a role that may do this.`,
};

interface ErrorsPageOptions {
  readonly serviceName: string;
  readonly docsUrl: string;
  readonly dashboardUrl?: string | undefined;
  readonly hasDocuments?: boolean;
  /** Codes that plugins add. */
  readonly pluginApis?: { readonly problems: ReadonlyMap<string, LoadedProblem> };
}

/** A code as shown on the page. */
interface CodeEntry {
  readonly code: string;
  /** In the words of whoever answers it. */
  readonly kind: ProblemKind;
  readonly sentBy: Html;
}

/** The codes that this gateway, its plugins, or the operator's dashboard can answer. */
function rowsOf(options: ErrorsPageOptions): readonly CodeEntry[] {
  const { dashboardUrl, pluginApis } = options;
  const own = problemsWith({ documents: true, dashboard: dashboardUrl !== undefined });
  return [...own.map((code) => rowOfCode(code, options)), ...[...(pluginApis?.problems ?? [])].map(rowOfPlugin)];
}

function rowOfCode(code: ProblemCode, options: ErrorsPageOptions): CodeEntry {
  const isOfDashboard = code === 'forbidden' && options.dashboardUrl !== undefined;
  const kind: ProblemKind = isOfDashboard ? { ...problems.forbidden, ...BY_DASHBOARD } : problems[code];
  return { code, kind, sentBy: sentBy(code, kind, options) };
}

function rowOfPlugin([code, { plugin, kind }]: readonly [string, LoadedProblem]): CodeEntry {
  return { code, kind, sentBy: html`<p class="soft">A code of the plugin <code>${plugin}</code>.</p>` };
}

export function errorsPage(options: ErrorsPageOptions): string {
  const rows = rowsOf(options);
  return page({
    title: 'Errors',
    serviceName: options.serviceName,
    current: 'errors',
    groups: [
      { label: 'Start', sections: [{ anchor: 'all', label: 'All codes' }] },
      { label: 'Codes', sections: rows.map(({ code, kind }) => ({ anchor: anchorOf(code), label: code, tag: statusTag(kind) })) },
    ],
    main: html`<h1>Errors</h1>
      <p class="lede">
        Every failure is a 4xx or 5xx answer with the media type <code>application/problem+json</code> (RFC 9457). A failed request is never
        charged.
      </p>
      <p>
        <code>code</code> is the contract: its meaning never changes. <code>detail</code> is for people and may change at any time, so match
        on <code>code</code>. Treat unknown members as optional. When you contact support, give the <code>request_id</code>.
      </p>
      <section id="all">
        <h2><a href="#all">All codes</a></h2>
        ${overview(rows)}
      </section>
      ${rows.map((row) => entry(row, options))}`,
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

function entry(row: CodeEntry, options: ErrorsPageOptions): Html {
  const { code, kind } = row;
  const members = Object.entries(kind.members).map(([name, { schema, optional }]): Row => ({
    ...rowOf(name, schema, schema.description),
    required: !optional,
  }));
  const fields = kind.headers.map((name) => ({ ...rowOf(name, HEADERS[name]!.schema, HEADERS[name]!.description), required: true }));
  return entrySection({
    id: anchorOf(code),
    title: html`<code>${code}</code>`,
    content: html`<p>${statusTag(kind)} ${kind.title}. ${prose(kind.meaning)}</p>
      <h4>Try again?</h4>
      <p>${retry(code, kind)} ${prose(kind.advice)}</p>
      ${titledTable(code, 'Additional members', members)} ${titledTable(code, 'Response headers', fields)} ${row.sentBy}`,
    samples: example(code, kind, options),
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

function sentBy(code: ProblemCode, { to }: ProblemKind, { dashboardUrl, hasDocuments = false }: ErrorsPageOptions): Html {
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

function example(code: string, kind: ProblemKind, { serviceName, docsUrl }: ErrorsPageOptions): Html {
  const { status, headers } = kind;
  const values = headerExamples(serviceName, code);
  const names = ['X-Request-Id', ...headers];
  const shown = [['Content-Type', 'application/problem+json'] as const, ...names.map((name) => [name, values[name] ?? ''] as const)];
  return answerSample('Example', status, shown, exampleOf(code, kind, docsUrl));
}
