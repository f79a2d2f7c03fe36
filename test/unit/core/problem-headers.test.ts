// The headers that a code's row declares are those that are sent, for every refusal of the code and in every form.
import { expect, test } from 'vitest';
import { NO_HEADERS } from '../../../src/core/outcome.ts';
import type { HeaderList } from '../../../src/core/outcome.ts';
import { problems, refuse } from '../../../src/core/problem.ts';
import type { ProblemCode, ProblemHeader } from '../../../src/core/problem.ts';
import { PROBLEM_HEADERS } from '../../../src/core/problem-headers.ts';
import { ProblemWriter } from '../../../src/core/problem-writer.ts';
import { adminOpenApi } from '../../../src/admin/admin-openapi.ts';
import { STILL_RUNNING, WAIT, WRONG_TOKEN } from '../../../src/admin/admin-refusals.ts';
import { loadedProblems, refuseBy } from '../../../src/config/plugin-problems.ts';

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const CODES = Object.keys(problems) as ProblemCode[];
const writer = new ProblemWriter({ docsUrl: 'https://x.example', realm: 'Lingate' });
const OPTIONS = { serviceName: 'Lingate', serverUrl: 'http://127.0.0.1', docsUrl: 'https://x.example' };

/** What only a refusal can know. */
const OF_REFUSAL: Partial<Record<ProblemCode, HeaderList>> = { method_not_allowed: [['Allow', 'GET']] };

function sentWith(code: ProblemCode): HeaderList {
  const kind = problems[code];
  const fields = Object.fromEntries(kind.fields.map((name) => [name, 7]));
  return writer.render({ code, kind, detail: 'x', fields, headers: OF_REFUSAL[code] ?? NO_HEADERS }, ID).headers;
}

test.each(CODES)('%s is sent with what its row declares, in that order', (code) => {
  expect(sentWith(code).map(([name]) => name)).toEqual(problems[code].headers);
});

test('values: five seconds to wait unless the refusal knows better, the limit of the document, the service’s name', () => {
  const headersOf = (problem: (typeof WAIT)['problem']): HeaderList => writer.render(problem, ID).headers;
  expect(headersOf(refuse('service_unavailable', 'x').problem)).toEqual([['Retry-After', '5']]);
  expect(headersOf(refuse('rate_limited', 'x', { limit: 3 }, [['Retry-After', '1']]).problem)).toEqual([
    ['Retry-After', '1'],
    ['X-RateLimit-Limit', '3'],
  ]);
  expect(headersOf(refuse('method_not_allowed', 'x', undefined, [['Allow', 'GET, POST']]).problem)).toEqual([['Allow', 'GET, POST']]);
  expect(headersOf(WRONG_TOKEN.problem)).toEqual([['WWW-Authenticate', 'Bearer realm="Lingate"']]);
  // One each: neither is sent twice.
  expect(headersOf(STILL_RUNNING.problem)).toEqual([['Retry-After', '5']]);
  expect(headersOf(WAIT.problem)).toEqual([
    ['Retry-After', '60'],
    ['X-RateLimit-Limit', '10'],
  ]);
});

test('a code of a plugin’s has what it declares as well', () => {
  const own = loadedProblems('shop', {
    shop_busy: { status: 503, title: 'Busy', retry: true },
    shop_gone: { status: 410, title: 'Gone', retry: false },
  });
  const sent = (code: string) => writer.render(refuseBy(own)(code, 'x').problem, ID).headers;
  expect(sent('shop_busy').map(([name]) => name)).toEqual(own.get('shop_busy')!.kind.headers);
  expect(sent('shop_busy')).toEqual([['Retry-After', '5']]);
  expect(sent('shop_gone')).toEqual([]);
});

test('the documents of both APIs list every one of them', () => {
  const names = [...new Set(CODES.flatMap((code): readonly ProblemHeader[] => problems[code].headers))].toSorted();
  expect(names).toEqual(Object.keys(PROBLEM_HEADERS).toSorted());
  const { paths } = adminOpenApi(OPTIONS) as unknown as {
    paths: Record<string, Record<string, { responses: { default: { headers: Record<string, { description: string }> } } }>>;
  };
  const ofAdmin = Object.values(paths).flatMap((item) => Object.values(item).map(({ responses }) => responses.default.headers));
  expect(ofAdmin.length).toBeGreaterThan(10);
  for (const headers of ofAdmin) expect(Object.keys(headers).toSorted()).toEqual(names);
});
