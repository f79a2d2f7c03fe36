// The response headers of problems: a code's row lists their names; here is what each means and where its value comes from.
import { NO_HEADERS } from './outcome.ts';
import type { HeaderList } from './outcome.ts';
import type { Problem, ProblemHeader } from './problem.ts';

interface HeaderSource {
  /** For the reference. */
  readonly description: string;
  readonly type: 'string' | 'integer';
  /** The value unless the refusal brings its own; `undefined` if only a refusal can know it. `realm` is the service's name. */
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

/** What is sent with a problem: the headers that its row lists, then what the refusal adds to them. */
export function headersOf(problem: Problem, realm: string): HeaderList {
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
