// Requests that nobody would write: those of the HTTP table, and some more, changed at random; reproducible from a seed.
import { CASES } from '../http-table/cases.ts';
import { AUTH, CASE_MARK, JSON_TYPE, TAIL_MARK, get, head } from '../http-table/notation.ts';
import type { Random } from '../simulation/random.ts';

const SEED_BYTES_MAX = 4096;
const CHANGES_MAX = 6;

const GLOSSARY = '{"name":"g","source_lang":"EN","target_lang":"DE","entries":{"cat":"Katze"}}';
const OPTIONS = '{"text":["a","b"],"target_lang":"pt-br","source_lang":"EN","formality":"prefer_more","context":"c"}';
const post = (path: string, body: string): string =>
  head(`POST ${path} HTTP/1.1`, AUTH, JSON_TYPE, `Content-Length: ${body.length}`) + body;

const SEEDS: readonly string[] = [
  ...CASES.flatMap(({ bytes }) => (typeof bytes === 'string' ? [bytes] : [bytes.join('')])),
  post('/v1/glossaries', GLOSSARY),
  post('/v1/translate', OPTIONS),
  get('/v1/glossaries', AUTH),
  get('/v1/glossaries/01ARZ3NDEKTSV4RRFFQ69G5FAV/entries', AUTH),
]
  .filter((bytes) => bytes !== '' && bytes.length <= SEED_BYTES_MAX)
  .map((bytes) => bytes.replaceAll(CASE_MARK, 'fuzzed').replaceAll(TAIL_MARK, 'hidden'));

/** Characters that some parser treats specially. */
const TOKENS = [
  '\0 \t \r \n \r\n \r\n\r\n : ; , = " \\ / ? # % & @ [ ] { } ( ) < > * + - . 0 1 9 a F \x7f \x80 \xff'.split(' '),
  [' ', 'GET', 'POST', 'HEAD', 'PRI', ' HTTP/1.1', ' HTTP/1.0', ' HTTP/2.0', '%00', '%0d%0a', '%2e%2e', '../../', '//', 'http://a'],
  ['Host: a\r\n', 'Host: b\r\n', 'Content-Length: 0\r\n', 'Content-Length: 5\r\n', 'Content-Length:\r\n', ': b\r\n', ' folded\r\n'],
  ['Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', 'Upgrade: websocket\r\n', 'Expect: 100-continue\r\n', `${AUTH}\r\n`],
  ['0\r\n\r\n', '5\r\nhello\r\n', 'ffffffff\r\n', ';ext', '-1', '+5', '0x5', '18446744073709551616', '9'.repeat(40), '1e400'],
  [
    '"text"',
    '"target_lang"',
    '"glossary_id"',
    'null',
    'true',
    '[]',
    '{}',
    '[[[[[[[[',
    '""',
    '"\\ud800"',
    '\\u0000',
    '\xf0\x9f\x91\x8d',
    '\xc0\xaf',
  ],
].flat();

type Change = (text: string, random: Random) => string;

const CHANGES: readonly Change[] = [
  function flipBit(text, random) {
    const at = place(text, random);
    return splice(text, at, 1, String.fromCharCode(((text.charCodeAt(at) || 0) ^ (1 << random.int(0, 7))) & 0xff));
  },
  (text, random) => splice(text, place(text, random), 0, random.pick(TOKENS)),
  (text, random) => splice(text, place(text, random), random.int(1, 4), random.pick(TOKENS)),
  (text, random) => splice(text, place(text, random), random.int(1, 16), ''),
  function repeatRange(text, random) {
    const at = place(text, random);
    const range = text.slice(at, at + random.int(1, 40));
    return splice(text, at, 0, range.repeat(random.int(1, 4)));
  },
  function moveLine(text, random) {
    const lines = text.split('\r\n');
    const [line = ''] = lines.splice(random.int(0, lines.length - 1), 1);
    // Not always: a repeated line is worth a try as well.
    if (random.chance(0.5)) lines.splice(random.int(0, lines.length), 0, line);
    lines.splice(random.int(0, lines.length), 0, line);
    return lines.join('\r\n');
  },
  (text, random) => text.split('\r\n').toSpliced(random.int(0, 4), 1).join('\r\n'),
  (text, random) => text.slice(0, place(text, random)),
  (text, random) => text + random.pick(SEEDS),
  (text, random) => text.slice(0, place(text, random)) + random.pick(SEEDS).slice(place(random.pick(SEEDS), random)),
  function otherNumber(text, random) {
    const numbers = [...text.matchAll(/\d+/g)];
    if (numbers.length === 0) return text;
    const { index, 0: digits } = random.pick(numbers);
    return splice(text, index, digits.length, String(Number(digits) + random.pick([-1, 1, 10, 1e9, -Number(digits), 2 ** 53])));
  },
  function otherCase(text, random) {
    const at = place(text, random);
    const range = text.slice(at, at + random.int(1, 20));
    return splice(text, at, range.length, random.chance(0.5) ? range.toUpperCase() : range.toLowerCase());
  },
];

/** One request or several, one character per byte, in the pieces in which it is sent. */
export function mutated(random: Random): string[] {
  let text = random.pick(SEEDS);
  for (let left = random.int(1, CHANGES_MAX); left > 0; left--) text = random.pick(CHANGES)(text, random);
  // Case mapping may have left the range of a byte.
  const bytes = Array.from(text, (c) => String.fromCharCode(c.charCodeAt(0) & 0xff)).join('');
  if (random.chance(0.7)) return [bytes];
  const cut = place(bytes, random);
  return [bytes.slice(0, cut), bytes.slice(cut)];
}

function place(text: string, random: Random): number {
  return random.int(0, Math.max(0, text.length - 1));
}

function splice(text: string, at: number, length: number, put: string): string {
  return text.slice(0, at) + put + text.slice(at + length);
}
