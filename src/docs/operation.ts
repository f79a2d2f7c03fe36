// The types of the API reference's description of a route, and the paths of the documentation.
import type { TSchema } from 'typebox';
import { problems } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { TAG_FIELD } from '../domain/request-tag.ts';
import { Type } from '../domain/typebox.ts';
import type { DescribedAnswer, DescribedRoute, DescribedParameter, Examples } from './openapi-writer.ts';

/** A route of the service; its method and path are the key in the table. */
export interface Operation extends Pick<DescribedRoute, 'id' | 'summary' | 'authenticated'> {
  readonly tag: Tag;
  readonly description: string;
  readonly query?: readonly QueryParameter[];
  readonly body?: { readonly description: string; readonly schema: TSchema; readonly examples: Examples };
  readonly answer: OperationAnswer;
  /** Beyond those of every route, and of every route that needs a key. */
  readonly problems?: readonly ProblemCode[];
}

export interface OperationAnswer extends DescribedAnswer {
  readonly examples?: Examples;
  /** Names of response headers beyond those of every answer. */
  readonly headers?: readonly string[];
}

interface QueryParameter extends DescribedParameter {
  readonly description: string;
  readonly example: string;
}

export const tags = {
  Translation: 'Translate texts.',
  Languages: 'The languages that can be translated.',
  Glossaries: 'Terms with fixed translations.',
  Usage: 'What has been used, and what is left.',
  Health: 'For load balancers and monitors.',
} as const;

export type Tag = keyof typeof tags;

/** For the routes' only path parameter. */
export const GLOSSARY_ID = '01KA6Q4T1V8E5S0H6N3B7W2XJD';
const idParameter: DescribedParameter = {
  name: 'id',
  description: "The glossary's id, a ULID. Any other text matches no glossary.",
  example: GLOSSARY_ID,
  required: true,
  schema: Type.String(),
};

const tagParameter: DescribedParameter = {
  name: TAG_FIELD,
  description: 'Under which the request is counted in reports of usage: 1 to 100 printable ASCII characters without spaces.',
  example: 'acme',
  schema: Type.String(),
};

/** As documents and pages describe it; `name` is its key in the table. */
export function describedOperation(name: string, { query = [], ...operation }: Operation): DescribedRoute {
  const [method = '', path = ''] = name.split(' ');
  const inPath = path.includes('{id}') ? [idParameter] : [];
  return {
    ...operation,
    method,
    path,
    inPath,
    sharesPath: inPath.length > 0,
    inQuery: query,
    inHeader: operation.authenticated ? [tagParameter] : [],
  };
}

/** The codes that any authenticated route can answer. */
const AUTHENTICATED: readonly ProblemCode[] = ['unauthorized', 'key_revoked', 'forbidden', 'rate_limited', 'service_unavailable'];
/** The codes that any route can answer; `validation_error` is also the answer to broken HTTP framing. */
const COMMON: readonly ProblemCode[] = ['validation_error', 'internal_error'];
/** The codes for a request that matches no operation. */
export const UNMATCHED: readonly ProblemCode[] = ['not_found', 'method_not_allowed'];

/** Every code that an operation can answer, by status, in the order of the registry. */
export function problemsOf({ authenticated, problems: own = [] }: Operation): ReadonlyMap<number, readonly ProblemCode[]> {
  return Map.groupBy(codesOf(authenticated, own), (code) => problems[code].status);
}

/** `own`, and the codes of every route, in the order of the registry. */
export function codesOf(authenticated: boolean, own: readonly ProblemCode[]): readonly ProblemCode[] {
  const codes = new Set([...COMMON, ...(authenticated ? AUTHENTICATED : []), ...own]);
  return (Object.keys(problems) as ProblemCode[]).filter((code) => codes.has(code));
}

/** `documents` are the plugins with their own API document. */
export function documentPaths(documents: readonly string[]): string[] {
  return ['/openapi.json', ...documents.map(documentPath), '/docs', '/docs/errors'];
}

/** The path of a plugin's own API document. */
export function documentPath(plugin: string): string {
  return `/openapi/${encodeURIComponent(plugin)}.json`;
}
