// Renders problems as RFC 9457 documents; the constant parts are prepared once per kind.
import type { HeaderList } from './outcome.ts';
import { anchorOf } from './problem.ts';
import { headersOf } from './problem-headers.ts';
import type { Problem, ProblemDocument, ProblemForm, ProblemKind } from './problem.ts';

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

interface ProblemWriterOptions {
  /** Absolute URL that contains `/errors`. */
  readonly docsUrl: string;
  /** The service's short name, for `WWW-Authenticate`. */
  readonly realm: string;
}

export class ProblemWriter {
  readonly #options: ProblemWriterOptions;
  /** The documents' beginnings. */
  readonly #prefixes = new Map<ProblemKind, string>();
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
    let behind = '"';
    for (const name in problem.fields) {
      behind += `,"${name}":${JSON.stringify(problem.fields[name])}`;
    }
    const headers = headersOf(problem, this.#options.realm);
    return { problem, before: `${this.#prefixOf(problem)}${JSON.stringify(problem.detail)},"request_id":"`, behind: `${behind}}`, headers };
  }

  #prefixOf({ code, kind }: Problem): string {
    let prefix = this.#prefixes.get(kind);
    if (prefix === undefined) this.#prefixes.set(kind, (prefix = prefixOf(code, kind, this.#options)));
    return prefix;
  }
}

function prefixOf(code: string, { status, title }: ProblemKind, { docsUrl }: ProblemWriterOptions): string {
  const type = JSON.stringify(`${docsUrl}/errors#${anchorOf(code)}`);
  return `{"type":${type},"title":${JSON.stringify(title)},"status":${status},"code":"${code}","detail":`;
}
