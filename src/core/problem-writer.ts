// Renders problems as RFC 9457 documents, with their response headers.
import { NO_HEADERS } from './outcome.ts';
import type { HeaderList } from './outcome.ts';
import { anchorOf } from './problem.ts';
import type { Problem, ProblemDocument, ProblemForm, ProblemHeader } from './problem.ts';

interface RenderedProblem {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** A rendered problem without the request id, which goes between `before` and `behind`. */
interface Written {
  readonly problem: Problem;
  readonly before: string;
  readonly behind: string;
  readonly headers: HeaderList;
}

export class ProblemWriter {
  readonly #docsUrl: string;
  readonly #realm: string;
  /** The last problem rendered, cached because a flooding caller mostly gets the same one. */
  #latest: Written | undefined = undefined;

  /** `docsUrl` is the absolute URL that contains `/errors`, `realm` that of `WWW-Authenticate`. */
  constructor(docsUrl: string, realm: string) {
    this.#docsUrl = docsUrl;
    this.#realm = realm;
  }

  /** Renders in a route's own form, with the header fields that belong to the code in any form. */
  renderAs(form: ProblemForm, problem: Problem, requestId: string, query: string): RenderedProblem {
    const { headers, body } = this.render(problem, requestId);
    return { status: form.status(problem), headers, body: form.body(problem, JSON.parse(body) as ProblemDocument, query) };
  }

  /** `requestId` is ours and needs no escaping; `detail` and string members are escaped. */
  render(problem: Problem, requestId: string): RenderedProblem {
    if (this.#latest?.problem !== problem) this.#latest = this.#write(problem);
    const { before, behind, headers } = this.#latest;
    return { status: problem.kind.status, headers, body: before + requestId + behind };
  }

  #write(problem: Problem): Written {
    let behind = '"';
    for (const name in problem.fields) {
      behind += `,"${name}":${JSON.stringify(problem.fields[name])}`;
    }
    const { code, kind, detail } = problem;
    const type = `${this.#docsUrl}/errors#${anchorOf(code)}`;
    const constant = JSON.stringify({ type, title: kind.title, status: kind.status, code, detail });
    return { problem, before: `${constant.slice(0, -1)},"request_id":"`, behind: `${behind}}`, headers: headersOf(problem, this.#realm) };
  }
}

interface HeaderSource {
  /** For the reference. */
  readonly description: string;
  readonly type: 'string' | 'integer';
  /** The value unless the refusal brings its own; `undefined` if only a refusal can know it. */
  readonly valueOf: (problem: Pick<Problem, 'fields'>, realm: string) => string | undefined;
}

export const PROBLEM_HEADERS: Readonly<Record<ProblemHeader, HeaderSource>> = {
  'Retry-After': { description: 'Whole seconds to wait before trying again.', type: 'integer', valueOf: () => '5' },
  'X-RateLimit-Limit': {
    description: 'Requests per second that the plan, or the key, allows; the same number as `limit`.',
    type: 'integer',
    valueOf: ({ fields }) => (fields?.['limit'] === undefined ? undefined : String(Number(fields['limit']))),
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 9110). With `unauthorized` only.',
    type: 'string',
    valueOf: (_problem, realm) => `Bearer realm="${realm}"`,
  },
  Allow: { description: 'The methods that this path accepts. With `method_not_allowed` only.', type: 'string', valueOf: () => undefined },
};

/** The headers that a problem's row lists, then what the refusal adds to them. */
function headersOf(problem: Problem, realm: string): HeaderList {
  const { kind, headers } = problem;
  if (kind.headers.length === 0 && headers.length === 0) return NO_HEADERS;
  const left = new Map(headers);
  const listed = kind.headers.flatMap((name): HeaderList => {
    const value = left.get(name) ?? PROBLEM_HEADERS[name].valueOf(problem, realm);
    left.delete(name);
    return value === undefined ? NO_HEADERS : [[name, value]];
  });
  return [...listed, ...left];
}
