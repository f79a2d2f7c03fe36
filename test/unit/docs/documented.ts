// Checks OpenAPI documents by Redocly's strictest rules and ours, and real answers against them: status, fields and body.
import { fileURLToPath } from 'node:url';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface Header {
  readonly required?: boolean;
  readonly schema: { readonly type: string };
  readonly example?: unknown;
}

interface DocumentedResponse {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly example: string;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  }[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly examples: Readonly<Record<string, { value: unknown }>> } };
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>>; readonly headers: Readonly<Record<string, Header>> };
}

/** Fields of HTTP itself or of the connection; all others are documented. */
const PLAIN_HTTP = new Set(['content-type', 'content-length', 'transfer-encoding', 'date', 'connection', 'keep-alive']);

export class Documented {
  readonly document: OpenApi;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: OpenApi) {
    this.document = document;
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, 'openapi');
  }

  static async of(opsUrl: string): Promise<Documented> {
    const response = await fetch(`${opsUrl}/openapi.json`);
    return new Documented((await response.json()) as OpenApi);
  }

  /** Each operation as `METHOD /path`. */
  get routes(): string[] {
    const items = Object.entries(this.document.paths);
    return items.flatMap(([path, item]) => methodsOf(item).map((method) => `${method.toUpperCase()} ${path}`));
  }

  operation(route: string): DocumentedOperation {
    const [method = '', path = ''] = route.split(' ');
    return this.document.paths[path]![method.toLowerCase()]!;
  }

  /** All differences between the answer and the document; reads its body. */
  async faults(route: string, response: Response): Promise<string[]> {
    const [method = '', path = ''] = route.split(' ');
    const responses = this.operation(route).responses;
    const status = Object.hasOwn(responses, response.status) ? String(response.status) : 'default';
    const pointer = this.#resolve(['paths', path, method.toLowerCase(), 'responses', status]);
    const documented = this.#at(pointer) as DocumentedResponse;
    return [...this.#headerFaults(pointer, documented, response.headers), ...(await this.#bodyFaults(pointer, documented, response))];
  }

  /** Whether a value matches a schema of the document. */
  matches(schema: string, value: unknown): boolean {
    return this.#validator(['components', 'schemas', schema])(value);
  }

  #headerFaults(response: readonly string[], { headers }: DocumentedResponse, sent: Headers): string[] {
    const known = Object.keys(headers);
    const undocumented = [...sent.keys()].filter((name) => !PLAIN_HTTP.has(name) && !known.some((other) => other.toLowerCase() === name));
    const faults = undocumented.map((name) => `field ${name} is not documented`);
    for (const name of known) {
      const at = this.#resolve([...response, 'headers', name]);
      const { required = false, schema } = this.#at(at) as { required?: boolean; schema: { type: string } };
      const text = sent.get(name);
      if (text === null && required) faults.push(`field ${name} is missing`);
      const value = schema.type === 'integer' ? Number(text) : text;
      if (text !== null && !this.#validator([...at, 'schema'])(value)) faults.push(`field ${name} is ${text}`);
    }
    return faults;
  }

  async #bodyFaults(pointer: readonly string[], { content }: DocumentedResponse, response: Response): Promise<string[]> {
    const text = await response.text();
    if (content === undefined) return text === '' ? [] : ['there is a body'];
    const media = response.headers.get('content-type') ?? '';
    if (!Object.hasOwn(content, media)) return [`the media type is ${media}`];
    const validate = this.#validator([...pointer, 'content', media, 'schema']);
    validate(media.includes('json') ? JSON.parse(text) : text);
    return (validate.errors ?? []).map(({ instancePath, message = '' }) => `body${instancePath} ${message}: ${text}`);
  }

  #validator(pointer: readonly string[]): ValidateFunction {
    const $ref = `openapi#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    let validator = this.#compiled.get($ref);
    if (validator === undefined) this.#compiled.set($ref, (validator = this.#ajv.compile({ $ref })));
    return validator;
  }

  /** Where a reference points to, or the path itself. */
  #resolve(pointer: readonly string[]): readonly string[] {
    const { $ref } = this.#at(pointer) as { $ref?: string };
    return $ref === undefined ? pointer : $ref.slice('#/'.length).split('/');
  }

  #at(pointer: readonly string[]): unknown {
    let value: unknown = this.document;
    for (const part of pointer) value = (value as Record<string, unknown>)[part];
    return value;
  }
}

function methodsOf(item: object): string[] {
  return Object.keys(item).filter((name) => name !== 'parameters');
}

const RULES = fileURLToPath(new URL('redocly.yaml', import.meta.url));

/** One line for each finding. `without` names rules that do not apply to the document. */
export async function findings(source: string, without: readonly string[] = []): Promise<string[]> {
  const problems = await lintFromString({ source, config: await loadConfig({ configPath: RULES }), absoluteRef: 'openapi.json' });
  return problems
    .filter(({ ruleId }) => !without.includes(ruleId))
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
}
