// Bytes beyond ASCII in the fields that delimit a message: a 400, unless the library drops them like blanks before we see them.
import { AUTH, BODY, JSON_TYPE, LAST_CHUNK, bare, chunk, row, translate, withTail } from './notation.ts';
import type { Deviating, HttpCase } from './notation.ts';

const DROPPED: Deviating = ['200', 24];
const DROPPED_THEN_CLOSED: Deviating = ['200 close', 24];

/** Around a value, where uWebSockets.js hides them from us. */
const AROUND: readonly (readonly [what: string, around: (value: string) => string])[] = [
  ['a byte before', (value) => `\xe9${value}`],
  ['a byte behind', (value) => `${value}\xa0`],
  ['a byte on both sides', (value) => `\xe9${value}\xa0`],
  ['a no-break space in UTF-8 before', (value) => `\xc2\xa0${value}`],
  ['bytes between blanks', (value) => ` \xff \xfe ${value} \x80`],
];

const around: readonly HttpCase[] = AROUND.flatMap(([what, wrap]) => [
  row('400 close', `CL with ${what} beyond ASCII`, '9110 8.6', `${translate(`Content-Length: ${wrap(String(BODY.length))}`)}${BODY}`, {
    uws: DROPPED,
  }),
  row(
    '400 close',
    `TE with ${what} beyond ASCII`,
    '9112 6.1',
    `${translate(`Transfer-Encoding: ${wrap('chunked')}`)}${chunk(BODY)}${LAST_CHUNK}`,
    { uws: DROPPED_THEN_CLOSED },
  ),
  row('400 close', `Host with ${what} beyond ASCII`, '9112 3.2', bare('GET /health HTTP/1.1', 'X-Case: {case}', `Host: ${wrap('a')}`), {
    uws: DROPPED,
  }),
]);

const within: readonly HttpCase[] = [
  ...['1\xe90', '1\xc2\xa00'].map((value) =>
    row('400 close', `CL with ${value.length - 2} byte(s) beyond ASCII within`, '9110 8.6', translate(`Content-Length: ${value}`), {
      uws: ['html:400 close', 3],
    }),
  ),
  ...withTail(row('400 close', 'CL of a byte beyond ASCII alone', '9110 8.6', translate('Content-Length: \xe9'))),
  row('400 close', 'TE with a byte beyond ASCII within', '9112 6.1', translate('Transfer-Encoding: chun\xe9ked')),
  ...withTail(row('400 close', 'TE of a byte beyond ASCII alone', '9112 6.1', translate('Transfer-Encoding: \xe9'))),
  ...withTail(
    row('400 close', 'Host with a byte beyond ASCII within', '9112 3.2', bare('GET /health HTTP/1.1', 'X-Case: {case}', 'Host: a\xe9b')),
  ),
];

const NAMES: readonly (readonly [what: string, ...fields: string[]])[] = [
  ['CL with a byte beyond ASCII behind its name', 'Content-Length\xa0: 5'],
  ['CL with a byte beyond ASCII before its name', '\xe9Content-Length: 5'],
  ['CL hidden by a byte beyond ASCII in another one’s name', 'Content-Length\xa0: 0', 'Content-Length: 5'],
  ['TE with a byte beyond ASCII behind its name', 'Transfer-Encoding\xa0: chunked', 'Content-Length: 5'],
];

const names: readonly HttpCase[] = NAMES.map(([what, ...fields]) =>
  row('400 close', what, '9110 5.1', bare('POST /v1/translate HTTP/1.1', 'Host: a', 'X-Case: {case}', AUTH, JSON_TYPE, ...fields), {
    uws: ['timer close', 6],
    newer: ['html:400 close', 6],
  }),
);

export const beyondAsciiCases: readonly HttpCase[] = [...around, ...within, ...names];
