// Renders problems as RFC 9457 documents; the constant parts are prepared once per kind.
import { NO_HEADERS } from './outcome.ts';
import type { HeaderList } from './outcome.ts';
import { anchorOf } from './problem.ts';
import type { Problem, ProblemDocument, ProblemForm, ProblemKind } from './problem.ts';

export interface RenderedProblem {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

interface Prepared {
  readonly prefix: string;
  readonly headers: HeaderList;
}

/** A rendered problem without the request id, which goes between `before` and `behind`. */
interface Written {
  readonly problem: Problem;
  readonly before: string;
  readonly behind: string;
  readonly headers: HeaderList;
}

export interface ProblemWriterOptions {
  /** Absolute URL that contains `/errors`. */
  readonly docsUrl: string;
  /** The service's short name, for `WWW-Authenticate`. */
  readonly realm: string;
}

const RETRY_AFTER_5: HeaderList = [['Retry-After', '5']];

export class ProblemWriter {
  readonly #options: ProblemWriterOptions;
  readonly #prepared = new Map<ProblemKind, Prepared>();
  /** The last problem rendered, cached because a flooding caller mostly gets the same one. */
  #latest: Written | undefined = undefined;

  constructor(options: ProblemWriterOptions) {
    this.#options = options;
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
    const prepared = this.#preparedFor(problem);
    let behind = '"';
    for (const name in problem.fields) {
      behind += `,"${name}":${JSON.stringify(problem.fields[name])}`;
    }
    const headers = problem.headers.length === 0 ? prepared.headers : [...prepared.headers, ...problem.headers];
    return { problem, before: `${prepared.prefix}${JSON.stringify(problem.detail)},"request_id":"`, behind: `${behind}}`, headers };
  }

  #preparedFor({ code, kind }: Problem): Prepared {
    let prepared = this.#prepared.get(kind);
    if (prepared === undefined) this.#prepared.set(kind, (prepared = prepare(code, kind, this.#options)));
    return prepared;
  }
}

function prepare(code: string, { status, title }: ProblemKind, options: ProblemWriterOptions): Prepared {
  const type = JSON.stringify(`${options.docsUrl}/errors#${anchorOf(code)}`);
  return {
    prefix: `{"type":${type},"title":${JSON.stringify(title)},"status":${status},"code":"${code}","detail":`,
    headers: constantHeaders(code, options.realm),
  };
}

function constantHeaders(code: string, realm: string): HeaderList {
  if (code === 'unauthorized') return [['WWW-Authenticate', `Bearer realm="${realm}"`]];
  if (code === 'engine_unavailable' || code === 'service_unavailable') return RETRY_AFTER_5;
  return NO_HEADERS;
}
