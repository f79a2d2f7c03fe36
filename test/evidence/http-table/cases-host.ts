// Host: exactly one, with only a host and a port in it.
import { AUTH, bare, get, row, withTail } from './notation.ts';
import type { HttpCase } from './notation.ts';

const withHost = (...hosts: readonly string[]): string => bare('GET /health HTTP/1.1', 'X-Case: {case}', ...hosts);

const GOOD = [
  'example.com',
  'example.com:8080',
  'EXAMPLE.com',
  '127.0.0.1',
  '127.0.0.1:1',
  '[::1]',
  '[::1]:8080',
  'a:',
  'a_b.test',
  'a%41',
];

const BAD: readonly (readonly [what: string, ...hosts: string[]])[] = [
  ['empty', 'Host:'],
  ['of blanks', 'Host:  \t'],
  ['with a user', 'Host: u@a'],
  ['with a path', 'Host: a/b'],
  ['with a query', 'Host: a?b'],
  ['with a fragment', 'Host: a#b'],
  ['with a blank', 'Host: a b'],
  ['with a list', 'Host: a, b'],
  ['with a scheme', 'Host: http://a'],
  ['with a port that is none', 'Host: a:b'],
  ['with a port of six digits', 'Host: a:123456'],
  ['with two ports', 'Host: a:1:2'],
  ['with an open bracket', 'Host: [::1'],
  ['with a byte beyond ASCII', 'Host: \xe9'],
  ['with a backslash', 'Host: a\\b'],
  ['with markup', 'Host: <a>'],
];

const TWICE: typeof BAD = [
  ['twice, equal', 'Host: a', 'Host: a'],
  ['twice, different', 'Host: a', 'Host: b'],
  ['twice, in two cases', 'Host: a', 'HOST: b'],
];
/** The newer build counts them itself. */
const COUNTED: Partial<HttpCase> = { newer: ['html:400 close', 5] };

export const hostCases: readonly HttpCase[] = [
  ...GOOD.map((host) => row('200', `host: ${host}`, '9110 7.2', withHost(`Host: ${host}`))),
  ...BAD.flatMap(([what, ...hosts]) => withTail(row('400 close', `host: ${what}`, '9112 3.2', withHost(...hosts)))),
  ...TWICE.flatMap(([what, ...hosts]) => withTail(row('400 close', `host: ${what}`, '9112 3.2', withHost(...hosts), COUNTED))),
  row('400 close', 'host: missing', '9112 3.2', withHost(), { uws: ['html:400 close', 5] }),
  row('400 close', 'host: missing, with a key', '9112 3.2', bare('GET /v1/usage HTTP/1.1', 'X-Case: {case}', AUTH), {
    uws: ['html:400 close', 5],
  }),
  row('200', 'host: X-Forwarded-Host is none of ours', '9110 7.2', get('/health', 'X-Forwarded-Host: b')),
];
