// /docs: the API reference, rendered from the OpenAPI documents that callers can download.
import { anchorOf, problems } from '../core/problem.ts';
import type { SchemaNode } from '../domain/option-schema.ts';
import type { DocExamples } from '../ports/plugin-route.ts';
import { answerSample, curlSample, quoted, sample } from './code-sample.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import { documentPath, openApiDocument, pluginDocuments } from './openapi-document.ts';
import type { OpenApiOptions } from './openapi-document.ts';
import type { OpenApiNode } from './openapi-writer.ts';
import { entry, links, page } from './page.ts';
import type { PageSection, SectionGroup } from './page.ts';
import { rowsOf, schemaTable, table, rowOf } from './schema-table.ts';
import type { Row } from './schema-table.ts';

/** What the page reads of a document whose references are resolved. */
interface OpenApiDocument {
  readonly servers: readonly { readonly url: string }[];
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Empty if no key is needed. */
  readonly security?: readonly unknown[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface ParameterObject extends DocExamples {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: SchemaNode;
}

interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly example?: unknown }>>;
  readonly content?: Content;
}

/** By media type. */
type Content = Readonly<Record<string, Media>>;
type Media = { readonly schema: SchemaNode } & Pick<DocExamples, 'examples'>;

/** An operation with its address. */
interface ShownOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** The authorization of a sample; the key comes from this shell variable. */
const KEY = 'API_KEY';

const BODY_LINE_MAX = 60;

export function referencePage(options: OpenApiOptions): string {
  const service = dereferenced(openApiDocument(options));
  const serverUrl = service.servers[0]!.url;
  const known = new Set([...Object.keys(problems), ...options.pluginApis.problems.keys()]);
  const group = (label: string, words: Html, routes: readonly ShownOperation[], more: readonly PageSection[] = []): SectionGroup => ({
    label,
    heading: html`<h2>${label}</h2>
      <p class="soft">${words}</p>`,
    sections: [...routes.map((route) => sectionOf(route, serverUrl, known)), ...more],
  });
  const routes = routesOf(service);
  return page({
    title: 'API reference',
    serviceName: options.serviceName,
    current: 'reference',
    introduction: html`<p class="lede">Translate text between languages over HTTP with JSON bodies.</p>`,
    groups: [
      { label: 'Start', sections: [gettingStarted(serverUrl), authentication(options), answers()] },
      ...(service.tags ?? []).map(({ name, description }) => {
        const tagged = routes.filter(({ operation }) => operation.tags?.includes(name));
        return group(name, html`${description}`, tagged, name === 'Languages' ? [codes(options)] : []);
      }),
      ...[...pluginDocuments(options)].map(([plugin, document]) => {
        // Relative, like all links of the pages.
        const link = html`<a href="${documentPath(plugin).slice(1)}">OpenAPI of ${plugin}</a>`;
        const words = html`${options.pluginApis.documents.get(plugin)!.summary} For client generators: ${link}.`;
        return group(plugin, words, routesOf(dereferenced(document)));
      }),
    ],
  });
}

/** A copy in which what a reference names stands in its place. */
function dereferenced(document: OpenApiNode): OpenApiDocument {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as Record<string, unknown>;
    const own = Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, copy(member)]));
    if (typeof $ref !== 'string') return own;
    const target = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
    return { ...(copy(target) as object), ...own };
  };
  return copy(document) as OpenApiDocument;
}

function routesOf({ paths }: OpenApiDocument): readonly ShownOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function methodTag(method: string): Html {
  return html`<span class="tag ${method.toLowerCase()}">${method}</span>`;
}

/** A route: purpose, input, answers, a request to paste, and what it can fail with. */
function sectionOf(route: ShownOperation, serverUrl: string, known: ReadonlySet<string>): PageSection {
  const { operationId: id, summary, description = '', security, parameters = [], requestBody, responses } = route.operation;
  const [status, answer] = answerOf(route.operation);
  const titled = (title: string, rows: readonly Row[]): Html | undefined =>
    rows.length === 0
      ? undefined
      : html`<h4>${title}</h4>
          ${schemaTable(`${id}: ${title}`, 'request', rows)}`;
  const rowsIn = (place: ParameterObject['in']): readonly Row[] => parameters.filter((one) => one.in === place).map(parameterRow);
  const inAnswer = contentRows(answer.content);
  const failures = Object.entries(responses).filter(([key]) => key !== status && key !== 'default');
  return entry({
    id,
    label: summary,
    tag: methodTag(route.method),
    content: html`<p>${methodTag(route.method)} <code>${route.path}</code></p>
      <p>${prose(description)}</p>
      ${security?.length === 0 ? html`<p class="soft">Needs no key.</p>` : undefined} ${titled('In the path', rowsIn('path'))}
      ${titled('In the query', rowsIn('query'))} ${titled('In the body', contentRows(requestBody?.content))}
      <h4>Answers ${status}</h4>
      <p>${prose(answer.description)}</p>
      ${inAnswer.length === 0 ? undefined : schemaTable(`${id}: the answer`, 'answer', inAnswer)}
      <h4>Can fail with</h4>
      <dl class="codes">
        ${failures.map(
          ([key, { description: words, content }]) =>
            html`<dt class="soft">${key}</dt>
              <dd>${codeLinks(content, known)} ${words.startsWith('`') ? undefined : prose(words)}</dd>`,
        )}
      </dl>`,
    samples: samplesOf(route, serverUrl),
  });
}

function answerOf({ responses }: OperationObject): readonly [status: string, answer: ResponseObject] {
  return Object.entries(responses).find(([key]) => key.startsWith('2'))!;
}

function parameterRow({ name, schema, description = 'Part of the path.', required = false }: ParameterObject): Row {
  return { ...rowOf(name, schema, description), required };
}

function mediaOf(content: Content = {}): readonly [type: string, media: Media] | undefined {
  return Object.entries(content)[0];
}

function contentRows(content: Content | undefined): readonly Row[] {
  const media = mediaOf(content);
  return media === undefined ? [] : rowsOf(media[1].schema);
}

/** To the page of errors. */
function codeLinks(content: Content | undefined, known: ReadonlySet<string>): Html {
  const listed = Object.keys(mediaOf(content)?.[1].examples ?? {}).filter((code) => known.has(code));
  return html`${listed.map((code) => html`<a href="${links.reference.errors}#${anchorOf(code)}"><code>${code}</code></a> `)}`;
}

/** For each example of the input, with the answer of its name, and the other examples. */
function samplesOf(route: ShownOperation, serverUrl: string): readonly Html[] {
  const { parameters = [], requestBody } = route.operation;
  const inputs = namedExamples([mediaOf(requestBody?.content)?.[1], ...parameters]);
  const [status, { content, headers }] = answerOf(route.operation);
  const media = mediaOf(content);
  const outputs = namedExamples([media?.[1]]);
  const fields = Object.entries(headers).flatMap(([name, { example }]) =>
    name === 'Location' && typeof example === 'string' ? [[name, example] as const] : [],
  );
  const head = [...(media === undefined ? [] : [['Content-Type', media[0]] as const]), ...fields];
  const answersOf = (isShown: (output: NamedExample) => boolean): readonly Html[] =>
    outputs.filter(isShown).map(({ caption, value }) => answerSample(`Answer${caption}`, Number(status), head, value));
  const requests = inputs.flatMap(({ caption, name }) => [
    requestOf(route, serverUrl, `Request${caption}`, name),
    ...answersOf((output) => output.name === name),
  ]);
  return [...requests, ...answersOf(({ name }) => !inputs.some((input) => input.name === name))];
}

interface NamedExample {
  /** What follows the words of the figure. */
  readonly caption: string;
  readonly name: string | undefined;
  readonly value: unknown;
}

/** One without a name if there are no more; never empty. */
function namedExamples(from: readonly (Pick<DocExamples, 'examples'> | undefined)[]): readonly NamedExample[] {
  const all = new Map(from.flatMap((one) => Object.entries(one?.examples ?? {})));
  const [first] = all;
  if (first === undefined) return [{ caption: '', name: undefined, value: undefined }];
  if (all.size === 1 || first[0] === 'example') return [{ caption: '', name: first[0], value: first[1].value }];
  return [...all].map(([name, { summary, value }]) => ({ caption: `: ${summary}`, name, value }));
}

/** The example of that name; without one the first that there is. */
function exampleOf({ example, examples = {} }: DocExamples, name: string | undefined): unknown {
  return example ?? (examples[name ?? ''] ?? Object.values(examples)[0])?.value;
}

function requestOf({ method, path, operation }: ShownOperation, serverUrl: string, caption: string, name: string | undefined): Html {
  const { parameters = [], requestBody, security } = operation;
  const media = mediaOf(requestBody?.content);
  const query = parameters.filter(
    (one) => one.in === 'query' && (one.required === true || one.examples?.[name ?? ''] !== undefined || requestBody === undefined),
  );
  const pairs = query.flatMap((one) => [exampleOf(one, name) ?? []].flat().map((value): [string, string] => [one.name, bodyText(value)]));
  const filled = parameters
    .filter((one) => one.in === 'path' && typeof one.example === 'string')
    .reduce((written, one) => written.replace(`{${one.name}}`, encodeURIComponent(one.example as string)), path);
  const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
  const value = media && exampleOf(media[1], name);
  // A POST without a body needs a length all the same, which curl only sends with `-d`.
  const empty = method === 'POST' ? [`-d ''`] : [];
  return curlSample(caption, method, quotedUrl(`${serverUrl}${filled}${search}`), [
    ...(security?.length === 0 ? [] : [`-H "Authorization: Bearer $${KEY}"`]),
    ...(value === undefined ? empty : bodyOptions(media![0], value)),
  ]);
}

function bodyOptions(type: string, value: unknown): readonly string[] {
  if (type !== 'multipart/form-data') return [`-H 'Content-Type: ${type}'`, `-d ${quoted(bodyText(value))}`];
  return Object.entries(value as object).map(([name, part]) => `-F ${quoted(`${name}=${String(part)}`)}`);
}

/** In quotes where a shell would read it otherwise. */
function quotedUrl(url: string): string {
  return /^[\w:/.-]+$/.test(url) ? url : quoted(url);
}

/** JSON on one line if it is short, otherwise indented. */
function bodyText(value: unknown): string {
  if (typeof value === 'string') return value;
  const line = JSON.stringify(value);
  return line.length > BODY_LINE_MAX ? JSON.stringify(value, null, 2).replaceAll('\n', '\n  ') : line;
}

function gettingStarted(serverUrl: string): PageSection {
  return entry({
    id: 'start',
    label: 'Getting started',
    level: 2,
    content: html`<p>
        You need a key from the operator of this service. Set it once in your shell; then you can paste every request on this page as it is.
      </p>
      <p>For client generators there is an <a href="${links.reference.openapi}">OpenAPI</a> 3.1 document.</p>`,
    samples: [sample('Base URL', html`${serverUrl}`), sample('Your key', html`export ${KEY}=la_test_…`)],
  });
}

function authentication({ vendorNames }: OpenApiOptions): PageSection {
  const forms = ['Authorization: Bearer <key>', ...vendorNames.flatMap((name) => [`Authorization: ${name} <key>`, `${name}: <key>`])];
  return entry({
    id: 'authentication',
    label: 'Authentication',
    level: 2,
    content: html`<p>
        Send your key with every request: <code>la_live_</code> or <code>la_test_</code>, followed by 40 letters or digits. All the forms
        shown are equivalent. If <code>Authorization</code> is sent, the other headers are ignored.
      </p>
      <p>
        Live and test keys behave alike and are charged alike; the word is only a label in usage reports. To rotate a key, create a second
        one, use it everywhere, and revoke the first when its last use no longer changes. A revoked key is refused at its next request.
      </p>`,
    samples: sample('Any of these', html`${forms.join('\n')}`),
  });
}

function answers(): PageSection {
  return entry({
    id: 'answers',
    label: 'Answers and failures',
    level: 2,
    content: html`<p>
        Every answer has an <code>X-Request-Id</code>; give it when you contact support. Every failure is a
        <a href="${links.reference.errors}">problem document</a> with a <code>code</code> whose meaning never changes. A failed request is
        never charged.
      </p>
      <p>Paths are case-sensitive and do not end with a slash. Unknown members of a body are refused, not ignored.</p>`,
    samples: table(['Status', 'Try again?'], RETRIES),
  });
}

const RETRIES = [
  ['429, 503', html`<span class="yes">Yes.</span> After <code>Retry-After</code> seconds, then with growing pauses.`],
  ['500', html`<span class="once">Once.</span> Then contact support.`],
  ['other 4xx', html`<span class="no">No.</span> Unchanged, it would fail again.`],
] as const;

function codes({ sourceLanguages, targetLanguages }: OpenApiOptions): PageSection {
  const content = html`<section id="codes" class="entry" aria-labelledby="codes-title">
    <div>
      <h3 id="codes-title"><a href="#codes">Codes</a></h3>
      <p>
        In upper or lower case; answers have them as shown here. <code>GET /v1/languages?type=target</code> says which targets support
        formality.
      </p>
      <h4>${sourceLanguages.length} sources</h4>
      ${chips(sourceLanguages)}
    </div>
    <div>
      <h4>${targetLanguages.length} targets</h4>
      ${chips(targetLanguages)}
    </div>
  </section>`;
  // Without a method: aligned with those that have one.
  return { id: 'codes', label: 'Codes', tag: html`<span class="tag"></span>`, content };
}

function chips(list: readonly string[]): Html {
  return html`<ul class="chips">
    ${list.map((code) => html`<li><code>${code}</code></li>`)}
  </ul>`;
}
