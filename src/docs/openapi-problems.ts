// The problems in the OpenAPI document: one schema and example per code, one response per status, with its codes as alternatives.
import { OF_DOCUMENTS, problems } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import type { OpenApiOptions } from './openapi-document.ts';
import { headersOfEveryAnswer, refTo, ULID } from './openapi-schemas.ts';
import type { OpenApiNode } from './openapi-writer.ts';
import { UNMATCHED, problemsOf } from './operation.ts';
import type { Operation } from './operation.ts';
import { fieldSchemas, OPTIONAL_FIELDS, problemExample } from './problem-examples.ts';

const codes = (Object.keys(problems) as ProblemCode[]).filter((code) => !problems[code].dashboardOnly && !OF_DOCUMENTS.has(code));

export function problemSchemas(docsUrl: string): OpenApiNode {
  return Object.fromEntries(codes.map((code) => [`${titleCase(code)}Problem`, problemSchema(code, docsUrl)]));
}

function problemSchema(code: ProblemCode, docsUrl: string): OpenApiNode {
  const { status, title, meaning, fields, mayHave } = problems[code];
  return {
    type: 'object',
    title,
    description: meaning,
    required: ['type', 'title', 'status', 'code', 'detail', 'request_id', ...fields.filter((name) => !OPTIONAL_FIELDS.has(name))],
    properties: {
      type: { type: 'string', format: 'uri', const: problemExample(code, docsUrl)['type'] },
      title: { type: 'string' },
      status: { type: 'integer', const: status },
      code: { type: 'string', const: code },
      detail: { type: 'string', description: 'For people; may change at any time.' },
      request_id: { ...ULID, description: 'The same as the X-Request-Id header.' },
      ...Object.fromEntries([...fields, ...mayHave].map((name) => [name, fieldSchemas[name]])),
    },
  };
}

/** The problem responses of all operations; one that several operations share is written once, as a component. */
export class ProblemResponses {
  /** Names of the shared responses, by their codes. */
  readonly #shared = new Map<string, readonly ProblemCode[]>();
  readonly #headers: readonly string[];

  constructor(operations: readonly Operation[], options: OpenApiOptions) {
    this.#headers = headersOfEveryAnswer(options);
    const seen = new Set<string>();
    for (const group of operations.flatMap((operation) => [...problemsOf(operation).values()])) {
      const name = nameOf(group);
      if (seen.has(name)) this.#shared.set(name, group);
      seen.add(name);
    }
    this.#shared.set(nameOf(UNMATCHED), UNMATCHED);
  }

  of(operation: Operation): OpenApiNode {
    const byStatus: OpenApiNode = {};
    for (const [status, group] of problemsOf(operation)) byStatus[status] = this.#response(group);
    return { ...byStatus, default: this.#response(UNMATCHED) };
  }

  /** Those of every answer, and `own`. */
  headers(own: readonly string[]): OpenApiNode {
    const names = new Set([...this.#headers, ...own]);
    return Object.fromEntries([...names].map((name) => [name, refTo('headers', name)]));
  }

  components(): OpenApiNode {
    return Object.fromEntries([...this.#shared].map(([name, group]) => [name, this.#write(group)]));
  }

  examples(docsUrl: string): OpenApiNode {
    return Object.fromEntries(codes.map((code) => [code, { summary: problems[code].title, value: problemExample(code, docsUrl) }]));
  }

  #response(group: readonly ProblemCode[]): OpenApiNode {
    const name = nameOf(group);
    return this.#shared.has(name) ? refTo('responses', name) : this.#write(group);
  }

  #write(group: readonly ProblemCode[]): OpenApiNode {
    const schemas = group.map((code) => refTo('schemas', `${titleCase(code)}Problem`));
    const meanings = group.map((code) => `\`${code}\`: ${problems[code].meaning}`).join('\n\n');
    return {
      description: group === UNMATCHED ? `If the path or the method is not one of these.\n\n${meanings}` : meanings,
      headers: this.headers(group.flatMap((code) => problems[code].headers)),
      content: {
        'application/problem+json': {
          schema: schemas.length === 1 ? schemas[0] : { oneOf: schemas },
          examples: Object.fromEntries(group.map((code) => [code, refTo('examples', code)])),
        },
      },
    };
  }
}

function nameOf(group: readonly ProblemCode[]): string {
  return group.map((code) => titleCase(code)).join('Or');
}

/** `rate_limited` becomes `RateLimited`. */
function titleCase(code: ProblemCode): string {
  return code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
