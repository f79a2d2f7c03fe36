// The types of the API reference's description of a route, and the paths of the documentation.
import type { TSchema } from 'typebox';
import { problems } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';

/** Keyed by a short name; pages show the first one. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

export interface OperationAnswer {
  readonly status: number;
  readonly description: string;
  /** `undefined` for an answer without a body. */
  readonly schema: TSchema | undefined;
  readonly examples?: Examples;
  /** Response headers beyond those of every answer. */
  readonly headers?: readonly string[];
}

export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
  readonly example: string;
}

export interface Operation {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  /** Whether a key is needed. */
  readonly authenticated: boolean;
  readonly query?: readonly QueryParameter[];
  readonly body?: { readonly description: string; readonly schema: TSchema; readonly examples: Examples };
  readonly answer: OperationAnswer;
  /** Beyond those of every route, and of every route that needs a key. */
  readonly problems?: readonly ProblemCode[];
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
export const idParameter = { name: 'id', description: "The glossary's id, a ULID. Any other text matches no glossary." } as const;

/** The codes that any authenticated route can answer. */
const AUTHENTICATED: readonly ProblemCode[] = ['unauthorized', 'key_revoked', 'rate_limited', 'service_unavailable'];
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

/** Splits `POST /v1/translate` into its two parts. */
export function splitName(name: string): [method: string, path: string] {
  const [method = '', path = ''] = name.split(' ');
  return [method, path];
}

/** The example that pages show. */
export function firstExample(examples: Examples | undefined): unknown {
  return Object.values(examples ?? {})[0]?.value;
}

/** `documents` are the plugins with their own API document. */
export function documentPaths(documents: readonly string[]): string[] {
  return ['/openapi.json', ...documents.map(documentPath), '/docs', '/docs/errors'];
}

/** The path of a plugin's own API document. */
export function documentPath(plugin: string): string {
  return `/openapi/${encodeURIComponent(plugin)}.json`;
}
