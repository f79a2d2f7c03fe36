// The description of plugins' routes in the OpenAPI document: what they declare, and no more.
import type { TSchema } from 'typebox';
import { routeName } from '../core/route.ts';
import type { LoadedRoute, RouteDoc } from '../ports/plugin.ts';
import type { OpenApiNode } from './openapi-document.ts';
import { operationObject } from './openapi-schemas.ts';

/** For routes without a description. */
const UNDECLARED: RouteDoc = {
  summary: '',
  description: 'The plugin does not describe it further.',
  authenticated: false,
  answer: { status: 200, description: "The plugin's answer." },
};

/** The route's own description, or the one for routes without. */
export function docOf(route: LoadedRoute): RouteDoc {
  return route.doc ?? { ...UNDECLARED, summary: routeName(route), authenticated: route.steps.includes('authenticate') };
}

/** Letters and digits, for an anchor and for the name of a function in a generated client. */
export function idOf({ plugin, method, path }: LoadedRoute): string {
  const words = `${plugin} ${method} ${path}`.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())).join('');
}

/** The name of the path's parameter, if it has one. */
export function parameterOf({ path }: LoadedRoute): string | undefined {
  return /\{(\w+)\}/.exec(path)?.[1];
}

/** One tag for each plugin that has routes. */
export function pluginTags(routes: readonly LoadedRoute[]): OpenApiNode[] {
  return [...new Set(routes.map(({ plugin }) => plugin))].map((name) => ({ name, description: `Routes of the plugin ${name}.` }));
}

/** Path items by path; none of them is one of ours. `headers` go with every answer. */
export function pluginPaths(routes: readonly LoadedRoute[], headers: OpenApiNode): Record<string, OpenApiNode> {
  const paths: Record<string, OpenApiNode> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, headers);
  return paths;
}

function operationOf(route: LoadedRoute, headers: OpenApiNode): OpenApiNode {
  const doc = docOf(route);
  return operationObject(
    { ...doc, id: idOf(route), tag: route.plugin },
    parametersOf(route, doc),
    doc.body && requestBodyOf(doc.body, mediaOf),
    responsesOf(route, doc, headers),
  );
}

export function parametersOf(route: LoadedRoute, { parameter, query = [] }: RouteDoc): OpenApiNode[] {
  const name = parameterOf(route);
  const inPath = name === undefined ? [] : [{ name, in: 'path', required: true, ...parameter, schema: { type: 'string' } }];
  const inQuery = query.map(({ schema, required = false, ...rest }) => ({ ...rest, in: 'query', required, schema: plain(schema) }));
  return [...inPath, ...inQuery];
}

type DocBody = NonNullable<RouteDoc['body']>;

export function requestBodyOf(body: DocBody, mediaOfBody: (body: DocBody) => OpenApiNode): OpenApiNode {
  const { description, contentTypes = ['application/json'], optional = false } = body;
  return { description, required: !optional, content: Object.fromEntries(contentTypes.map((type) => [type, mediaOfBody(body)])) };
}

function mediaOf({ schema, example }: { readonly schema: TSchema; readonly example?: unknown }): OpenApiNode {
  return { schema: plain(schema), ...(example === undefined ? {} : { example }) };
}

function responsesOf(route: LoadedRoute, { answer, failures = {} }: RouteDoc, headers: OpenApiNode): OpenApiNode {
  const { status, description, schema, example, contentType = 'application/json' } = answer;
  const media = schema && mediaOf({ schema, example });
  const problem = route.problemForm?.contentType ?? 'application/problem+json';
  const failed = (words: string): OpenApiNode => ({ description: words, headers, content: { [problem]: { schema: { type: 'object' } } } });
  return {
    [status]: { description, headers, ...(media === undefined ? {} : { content: { [contentType]: media } }) },
    ...Object.fromEntries(Object.entries(failures).map(([code, words]) => [code, failed(words)])),
    default: failed('Any other failure.'),
  };
}

/** TypeBox's own markers are not enumerable: what remains is JSON Schema. */
export function plain(schema: TSchema): OpenApiNode {
  return JSON.parse(JSON.stringify(schema)) as OpenApiNode;
}
