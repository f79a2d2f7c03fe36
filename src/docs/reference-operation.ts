// One route on the reference page, ours or a plugin's: purpose, input, answers, a request to paste, and what it can fail with.
import type { TSchema } from 'typebox';
import { anchorOf } from '../core/problem.ts';
import type { ApiDocument, DocExamples, LoadedRoute, PluginApis } from '../ports/plugin-route.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import type { DescribedRoute, DescribedParameter } from './openapi-writer.ts';
import { describedOperation, documentPath, GLOSSARY_ID, problemsOf } from './operation.ts';
import type { Operation } from './operation.ts';
import { links } from './page.ts';
import type { SectionGroup } from './page.ts';
import { headerExamples } from './problem-examples.ts';
import { answerSample, curlSample, entrySection, quoted } from './code-sample.ts';
import { describedRoute, docOf, idOf } from './plugin-document.ts';
import { rowOf, rowsOf, schemaTable } from './schema-table.ts';
import type { Row } from './schema-table.ts';

/** What the page shows of a route beside its description. */
interface EntryParts {
  /** By status. */
  readonly failures: readonly (readonly [status: number | string, words: Html])[];
  readonly samples: readonly Html[];
}

/** The authorization of a sample; the key comes from this shell variable. */
export const KEY = 'API_KEY';

function keyOption(authenticated: boolean): readonly string[] {
  return authenticated ? [`-H "Authorization: Bearer $${KEY}"`] : [];
}

const BODY_LINE_MAX = 60;

function routeEntry(operation: DescribedRoute, { failures, samples }: EntryParts): Html {
  const { id, method, path, summary, description = '', authenticated, inPath = [], inQuery = [], body, answer } = operation;
  return entrySection({
    id,
    title: summary,
    content: html`<p>${methodTag(method)} <code>${path}</code></p>
      <p>${prose(description)}</p>
      ${authenticated ? undefined : html`<p class="soft">Needs no key.</p>`} ${titled('In the path', id, inPath.map(parameterRow))}
      ${titled('In the query', id, inQuery.map(parameterRow))} ${titled('In the body', id, rowsIn(body?.schema))}
      <h4>Answers ${answer.status}</h4>
      <p>${prose(answer.description)}</p>
      ${tableOf(`${id}: the answer`, 'answer', rowsIn(answer.schema))} ${failures.length === 0 ? undefined : failureList(failures)}`,
    samples,
  });
}

export function methodTag(method: string): Html {
  return html`<span class="tag ${method.toLowerCase()}">${method}</span>`;
}

function parameterRow({ name, schema, description = 'Part of the path.', required = false }: DescribedParameter): Row {
  return { ...rowOf(name, schema, description), required };
}

function rowsIn(schema: TSchema | undefined): readonly Row[] {
  return schema === undefined ? [] : rowsOf(schema);
}

function titled(title: string, id: string, rows: readonly Row[]): Html | undefined {
  return rows.length === 0
    ? undefined
    : html`<h4>${title}</h4>
        ${tableOf(`${id}: ${title}`, 'request', rows)}`;
}

function tableOf(label: string, kind: 'request' | 'answer', rows: readonly Row[]): Html | undefined {
  return rows.length === 0 ? undefined : schemaTable(label, kind, rows);
}

function failureList(failures: EntryParts['failures']): Html {
  const rows = failures.map(
    ([status, words]) =>
      html`<dt class="soft">${status}</dt>
        <dd>${words}</dd>`,
  );
  return html`<h4>Can fail with</h4>
    <dl class="codes">${rows}</dl>`;
}

export function operationEntry(name: string, operation: Operation, serverUrl: string): Html {
  const described = describedOperation(name, operation);
  const to = links.reference.errors;
  const failures = [...problemsOf(operation)].map(
    ([status, codes]) => [status, html`${codes.map((code) => html`<a href="${to}#${anchorOf(code)}"><code>${code}</code></a> `)}`] as const,
  );
  return routeEntry(described, { failures, samples: [...requests(described, operation, serverUrl), ...answers(operation)] });
}

/** A sample request for each example of the body; a single one for a route without a body. */
function requests({ method, path }: DescribedRoute, { authenticated, query, body }: Operation, serverUrl: string): Html[] {
  const search = (query ?? []).map(({ name, example }) => `${name}=${example}`).join('&');
  const address = `${serverUrl}${path.replace('{id}', GLOSSARY_ID)}`;
  const url = search === '' ? address : quoted(`${address}?${search}`);
  const key = keyOption(authenticated);
  if (body === undefined) return [curlSample('Request', method, url, key)];
  const media = `-H 'Content-Type: application/json'`;
  return Object.values(body.examples).map(({ summary, value }) =>
    curlSample(`Request: ${summary}`, method, url, [...key, media, `-d ${quoted(bodyText(value))}`]),
  );
}

/** JSON on one line if it is short, otherwise indented. */
function bodyText(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length > BODY_LINE_MAX ? JSON.stringify(value, null, 2).replaceAll('\n', '\n  ') : line;
}

function answers({ answer: { status, headers = [], schema, examples } }: Operation): Html[] {
  const values = headerExamples('');
  const media = schema === undefined ? [] : [['Content-Type', 'application/json'] as const];
  const fields = [...media, ...headers.map((name) => [name, values[name] ?? ''] as const)];
  if (examples === undefined) return [answerSample('Answer', { status, headers: fields, body: undefined })];
  return Object.values(examples).map(({ summary, value }) => answerSample(`Answer: ${summary}`, { status, headers: fields, body: value }));
}

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
        ${own.map((route) => pluginEntry(route, serverUrl))}`,
  );
}

function introduction(plugin: string, document: ApiDocument | undefined): Html {
  if (document === undefined) return html`Routes of the plugin ${plugin}.`;
  // Relative, like all links of the pages.
  return html`${document.summary} For client generators: <a href="${documentPath(plugin).slice(1)}">OpenAPI of ${plugin}</a>.`;
}

function pluginEntry(route: LoadedRoute, serverUrl: string): Html {
  const failures = Object.entries(docOf(route).failures ?? {}).map(([status, words]) => [status, prose(words)] as const);
  return routeEntry(describedRoute(route), { failures, samples: samplesOf(route, serverUrl) });
}

/** A request and its answer for each example by name, such as a version; one of each for a route without named ones. */
function samplesOf(route: LoadedRoute, serverUrl: string): Html[] {
  const { query = [], body } = docOf(route);
  const named = [body, ...query].flatMap((one) => Object.entries(one?.examples ?? {}));
  const summaries = new Map(named.map(([name, { summary }]) => [name, summary] as const));
  if (summaries.size < 2 || body?.example !== undefined) return [requestOf(route, serverUrl), answerOf(route)];
  return [...summaries].flatMap(([name, summary]) => [requestOf(route, serverUrl, name, summary), answerOf(route, name, summary)]);
}

/** The example of that name; without one, or without a name, the first that there is. */
function exampleOf({ example, examples = {} }: DocExamples, name: string | undefined): unknown {
  if (example !== undefined) return example;
  return ((name === undefined ? undefined : examples[name]) ?? Object.values(examples)[0])?.value;
}

function captioned(caption: string, summary: string | undefined): string {
  return summary === undefined ? caption : `${caption}: ${summary}`;
}

function requestOf(route: LoadedRoute, serverUrl: string, name?: string, summary?: string): Html {
  const { authenticated, body } = docOf(route);
  const [media = 'application/json'] = body?.contentTypes ?? [];
  const value = body === undefined ? undefined : exampleOf(body, name);
  // A POST without a body needs a length all the same, which curl only sends with `-d`.
  const empty = route.method === 'POST' ? [`-d ''`] : [];
  const data = value === undefined ? empty : [`-H 'Content-Type: ${media}'`, `-d ${quoted(textOf(value))}`];
  const path = (describedRoute(route).inPath ?? []).reduce(
    (written, { name: parameter, example }) =>
      typeof example === 'string' ? written.replace(`{${parameter}}`, encodeURIComponent(example)) : written,
    route.path,
  );
  const url = quoted(`${serverUrl}${path}${requiredQuery(route, name)}`);
  return curlSample(captioned('Request', summary), route.method, url, [...keyOption(authenticated), ...data]);
}

/** With a question mark; empty if the query has no required parameters. A list is a repeated parameter. */
function requiredQuery(route: LoadedRoute, name: string | undefined): string {
  const required = (docOf(route).query ?? []).filter(
    (one) => one.required === true || (name !== undefined && one.examples?.[name] !== undefined),
  );
  const pairs = required.flatMap((one) => [exampleOf(one, name)].flat().map((value): [string, string] => [one.name, String(value)]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

function answerOf(route: LoadedRoute, name?: string, summary?: string): Html {
  const { answer } = docOf(route);
  const { status, schema, contentType = 'application/json' } = answer;
  const headers = schema === undefined ? [] : ([['Content-Type', contentType]] as const);
  return answerSample(captioned('Answer', summary), { status, headers, body: exampleOf(answer, name) });
}

function textOf(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example);
}
