// The routes of plugins on the reference page, by plugin.
import type { ApiDocument, LoadedRoute, PluginApis } from '../ports/plugin.ts';
import { answerSample, curlSample, quoted } from './code-sample.ts';
import { html, prose } from './html.ts';
import type { Html } from './html.ts';
import type { SectionGroup } from './page.ts';
import { documentPath } from './operation.ts';
import { docOf, idOf, parameterOf } from './plugin-operations.ts';
import { keyOption, methodTag, routeEntry } from './reference-operation.ts';
import { rowOf } from './schema-table.ts';

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
  const doc = docOf(route);
  const { query = [], body, parameter: about, failures = {} } = doc;
  const parameter = parameterOf(route);
  const description = about?.description ?? 'Part of the path.';
  return routeEntry({
    ...doc,
    id: idOf(route),
    method: route.method,
    path: route.path,
    inPath: parameter === undefined ? [] : [{ name: parameter, type: 'string', required: true, description }],
    inQuery: query.map((one) => ({ ...rowOf(one.name, one.schema, one.description), required: one.required === true })),
    body: body?.schema,
    failures: Object.entries(failures).map(([status, words]) => [status, prose(words)] as const),
    samples: [requestOf(route, serverUrl), answerOf(route)],
  });
}

function requestOf(route: LoadedRoute, serverUrl: string): Html {
  const { authenticated, body, parameter } = docOf(route);
  const [media = 'application/json'] = body?.contentTypes ?? [];
  const data = body?.example === undefined ? [] : [`-H 'Content-Type: ${media}'`, `-d ${quoted(textOf(body.example))}`];
  const path = parameter === undefined ? route.path : route.path.replace(/\{\w+\}/, () => encodeURIComponent(parameter.example));
  return curlSample('Request', route.method, quoted(`${serverUrl}${path}${requiredQuery(route)}`), [...keyOption(authenticated), ...data]);
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
