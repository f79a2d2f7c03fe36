// The routes of plugins on the reference page, by plugin.
import type { ApiDocument, LoadedRoute, PluginApis } from '../ports/plugin.ts';
import { answerSample, curlSample, quoted } from './code-sample.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import type { SectionGroup } from './page.ts';
import { documentPath } from './document-paths.ts';
import { docOf, idOf, parameterOf } from './plugin-operations.ts';
import { KEY, methodTag } from './reference-operation.ts';
import { rowOf, rowsOf, schemaTable } from './schema-table.ts';
import type { Row } from './schema-table.ts';

/** Their entries in the list of contents. */
export function pluginGroups({ routes }: PluginApis): SectionGroup[] {
  return [...Map.groupBy(routes, ({ plugin }) => plugin)].map(([label, own]) => ({
    label,
    sections: own.map((route) => ({ anchor: idOf(route), label: docOf(route).summary, tag: methodTag(route.method) })),
  }));
}

export function pluginSections({ routes, documents }: PluginApis, serverUrl: string): Html[] {
  return [...Map.groupBy(routes, ({ plugin }) => plugin)].map(
    ([plugin, own]) =>
      html`<h2>${plugin}</h2>
        <p class="soft">${introduction(plugin, documents.get(plugin))}</p>
        ${own.map((route) => entryOf(route, serverUrl))}`,
  );
}

function introduction(plugin: string, document: ApiDocument | undefined): Html {
  if (document === undefined) return html`Routes of the plugin ${plugin}.`;
  // Relative, like all links of the pages.
  return html`${document.summary} For client generators: <a href="${documentPath(plugin).slice(1)}">OpenAPI of ${plugin}</a>.`;
}

function entryOf(route: LoadedRoute, serverUrl: string): Html {
  const { summary, description, authenticated, answer } = docOf(route);
  const id = idOf(route);
  return html`<section id="${id}" class="entry" aria-labelledby="${id}-title">
    <div>
      <h3 id="${id}-title"><a href="#${id}">${summary}</a></h3>
      <p>${methodTag(route.method)} <code>${route.path}</code></p>
      <p>${prose(description)}</p>
      ${authenticated ? undefined : html`<p class="soft">Needs no key.</p>`} ${tables(route, id)}
      <h4>Answers ${answer.status}</h4>
      <p>${prose(answer.description)}</p>
      ${titled(`${id}: the answer`, 'answer', answer.schema === undefined ? [] : rowsOf(answer.schema))} ${failuresOf(route)}
    </div>
    <div class="samples">${requestOf(route, serverUrl)} ${answerOf(route)}</div>
  </section>`;
}

const IN_PATH = 'Part of the path.';

function tables(route: LoadedRoute, id: string): Html {
  const { query = [], body, parameter: about } = docOf(route);
  const parameter = parameterOf(route);
  const inPath: Row[] =
    parameter === undefined ? [] : [{ name: parameter, type: 'string', required: true, description: about?.description ?? IN_PATH }];
  const inQuery = query.map(({ name, schema, description, required = false }) => ({ ...rowOf(name, schema, description), required }));
  return html`${titled(`${id}: In the path`, 'request', inPath, 'In the path')}
  ${titled(`${id}: In the query`, 'request', inQuery, 'In the query')}
  ${titled(`${id}: In the body`, 'request', body === undefined ? [] : rowsOf(body.schema), 'In the body')}`;
}

function titled(label: string, kind: 'request' | 'answer', rows: readonly Row[], title?: string): Html | undefined {
  if (rows.length === 0) return undefined;
  return html`${title === undefined ? undefined : html`<h4>${title}</h4>`} ${schemaTable(label, kind, rows)}`;
}

function failuresOf(route: LoadedRoute): Html | undefined {
  const failures = Object.entries(docOf(route).failures ?? {});
  if (failures.length === 0) return undefined;
  const rows = failures.map(
    ([status, words]) =>
      html`<dt class="soft">${status}</dt>
        <dd>${prose(words)}</dd>`,
  );
  return html`<h4>Can fail with</h4>
    <dl class="codes">${rows}</dl>`;
}

function requestOf(route: LoadedRoute, serverUrl: string): Html {
  const { authenticated, body, parameter } = docOf(route);
  const key = authenticated ? [`-H "Authorization: Bearer $${KEY}"`] : [];
  const [media = 'application/json'] = body?.contentTypes ?? [];
  const data = body?.example === undefined ? [] : [`-H 'Content-Type: ${media}'`, `-d ${quoted(textOf(body.example))}`];
  const path = parameter === undefined ? route.path : route.path.replace(/\{\w+\}/, () => encodeURIComponent(parameter.example));
  return curlSample('Request', route.method, quoted(`${serverUrl}${path}${requiredQuery(route)}`), [...key, ...data]);
}

/** With a question mark; empty if the query has no required parameters. A list is a repeated parameter. */
function requiredQuery(route: LoadedRoute): string {
  const required = (docOf(route).query ?? []).filter((one) => one.required === true);
  const pairs = required.flatMap(({ name, example }) => [example].flat().map((value): [string, string] => [name, String(value)]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

function answerOf(route: LoadedRoute): Html {
  const { status, schema, contentType = 'application/json', example } = docOf(route).answer;
  const headers = schema === undefined ? [] : ([['Content-Type', contentType]] as const);
  return answerSample('Answer', { status, headers, body: example });
}

function textOf(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example);
}
