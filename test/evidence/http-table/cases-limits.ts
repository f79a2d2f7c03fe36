// Limits, each at one below, at it and one above: heads, fields, bodies, texts and characters.
import { AUTH, BODY, LAST_CHUNK, bare, chunk, get, inChunks, row, sized } from './notation.ts';
import type { HttpCase } from './notation.ts';

/** The gateway's configured limits in the table. */
export const BODY_BYTES_MAX = 65_536;
export const TEXT_CHARACTERS_MAX = 1000;

const HEAD_BYTES_MAX = 16_384;
const CONTEXT_MAX = 2000;
const TEXTS_MAX = 50;
const DROPPED_MAX = 8 * BODY_BYTES_MAX;
/** Two UTF-16 units, one character; escaped, so that a case is ASCII. */
const FACE = '\\ud83d\\ude00';

/** A translation whose body has this many bytes: JSON allows trailing blanks. */
const padded = (size: number): string => BODY.padEnd(size, ' ');
const texts = (count: number): string => JSON.stringify({ text: Array.from({ length: count }, () => 'a'), target_lang: 'DE' });
const characters = (count: number, unit = 'a'): string => `{"text":["${unit.repeat(count)}"],"target_lang":"DE"}`;
const context = (count: number, unit = 'c'): string => `{"text":["a"],"target_lang":"DE","context":"${unit.repeat(count)}"}`;

/** One below and at the limit it is answered; one above, the outcome is `above`. */
function around(name: string, rule: string, max: number, bytes: (n: number) => string, within = '200', above = '400'): HttpCase[] {
  return [
    row(within, `limit: ${name}, ${max} - 1`, rule, bytes(max - 1)),
    row(within, `limit: ${name}, ${max}`, rule, bytes(max)),
    row(above, `limit: ${name}, ${max} + 1`, rule, bytes(max + 1), { handled: 1 }),
  ];
}

/** A head of this many bytes in total, most of them in a field or in the target. */
function headOf(size: number, where: 'field' | 'target'): string {
  const filled = (fill: string): string => (where === 'field' ? get('/health', `X-Fill: ${fill}`) : get(`/health?${fill}`));
  return filled('f'.repeat(size - filled('').length));
}

const heads = (where: 'field' | 'target', sizes: readonly number[]): HttpCase[] =>
  sizes.map((size) => {
    const name = `limit: a head of ${size} bytes, most of them ${where}`;
    if (size <= HEAD_BYTES_MAX) return row('200', name, 'decisions 11', headOf(size, where));
    return row('400 close', name, 'decisions 11', headOf(size, where), {
      uws: ['html:431 close', 9],
      ...(size <= NODE_HEAD_BYTES_MAX[where] ? { node: ['200', 103] } : {}),
    });
  });

/** The limit of node:http, which counts differently. */
const NODE_HEAD_BYTES_MAX = { field: 16_420, target: 16_420 };

const fields = (count: number, ...last: readonly string[]): string => {
  const filling = Array.from({ length: count - 2 - last.length }, (_, i) => `X-${i}: ${i}`);
  return bare('GET /v1/usage HTTP/1.1', 'Host: a', 'X-Case: {case}', ...filling, ...last);
};

/** Fields are limited only in bytes; the library has a limit of its own. */
const manyFields = (count: number): HttpCase =>
  row(
    '200',
    `limit: ${count} fields, the last of them the key`,
    'decisions 11',
    fields(count, AUTH),
    count > 98 ? { uws: ['html:431 close', 10] } : {},
  );

export const limitCases: readonly HttpCase[] = [
  ...around('body bytes', 'decisions 3', BODY_BYTES_MAX, (n) => sized(padded(n)), '200', '400 close'),
  ...around(
    'body bytes in chunks',
    'decisions 3',
    BODY_BYTES_MAX,
    (n) => inChunks(chunk(padded(n)) + LAST_CHUNK),
    '200 close',
    '400 close',
  ),
  row('400 close', 'limit: a body of eight times the limit', 'decisions 3', sized(padded(DROPPED_MAX)), { handled: 1 }),
  row('400 close', 'limit: a body of eight times the limit + 1', 'decisions 3', sized(padded(DROPPED_MAX + 1)), { handled: 1 }),
  ...around('texts', 'interface Limits', TEXTS_MAX, (n) => sized(texts(n))),
  ...around('characters', 'interface Limits', TEXT_CHARACTERS_MAX, (n) => sized(characters(n))),
  ...around('characters of two units', 'decisions 3', TEXT_CHARACTERS_MAX, (n) => sized(characters(n, FACE))),
  ...around('context', 'interface Limits', CONTEXT_MAX, (n) => sized(context(n))),
  ...around('context of two units', 'decisions 3', CONTEXT_MAX, (n) => sized(context(n, FACE))),
  ...heads('field', [16_000, 16_383, 16_384, 16_385, 16_400, 16_500, 17_000, 33_000]),
  ...heads('target', [8_000, 16_000, 16_383, 16_384, 16_385, 16_500, 17_000]),
  ...[50, 97, 98, 99, 100, 101, 200, 1000].map(manyFields),
];
