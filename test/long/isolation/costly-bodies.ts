// Bodies that cost their parser as much as possible for their length: fixed ones, each the worst of its kind when it was found, and random ones.
import * as fc from 'fast-check';

export interface CostlyBody {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}

/** The default of `limits.body_bytes`. */
export const BODY_BYTES = 1_048_576;

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const PARTS_TYPE = 'multipart/form-data; boundary=B';

/** As many pieces, each made from its number, as fit between the two, joined by `mark`. */
function filled(before: string, one: (index: number) => string, mark: string, after: string, most = Infinity): string {
  const pieces: string[] = [];
  let room = BODY_BYTES - Buffer.byteLength(before) - Buffer.byteLength(after);
  for (let index = 0; index < most; index++) {
    const piece = one(index);
    room -= Buffer.byteLength(piece) + mark.length;
    if (room < 0) break;
    pieces.push(piece);
  }
  return before + pieces.join(mark) + after;
}

const list = (one: (index: number) => string, most?: number): string => filled('[', one, ',', ']', most);
const object = (one: (index: number) => string, most?: number): string => filled('{', one, ',', '}', most);
const text = (unit: string): string => filled('{"target_lang":"DE","text":["', () => unit, '', '"]}');
const entries = (line: (index: number) => string, most?: number): string =>
  filled('name=n&source_lang=en&target_lang=de&entries_format=tsv&entries=', line, '%0A', '', most);
const part = (name: string, value: string): string => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const word = (index: number): string => index.toString(36);

const json = (name: string, body: string): CostlyBody => ({ name, contentType: JSON_TYPE, body });
const form = (name: string, body: string): CostlyBody => ({ name, contentType: FORM_TYPE, body });
const parts = (name: string, body: string): CostlyBody => ({ name, contentType: PARTS_TYPE, body });

/** Every one of these was or is the most expensive of its kind at some limit. */
export const COSTLY_BODIES: readonly CostlyBody[] = [
  json('brackets that never close', '['.repeat(BODY_BYTES)),
  json(
    'objects that never close',
    filled('', () => '{"a":', '', ''),
  ),
  json(
    'lists of lists',
    list(() => '[]'),
  ),
  json(
    'empty objects',
    list(() => '{}'),
  ),
  json(
    '4,900 objects of other names',
    list((i) => `{"${word(i)}":1}`, 4900),
  ),
  json(
    'nests of 60',
    list(() => '['.repeat(60) + ']'.repeat(60)),
  ),
  json(
    'all names different',
    object((i) => `"${word(i)}":1`),
  ),
  json(
    '9,900 long names',
    object((i) => `"${word(i).padEnd(90, 'z')}":1`, 9900),
  ),
  json(
    '9,900 escaped names',
    object((i) => `"${'\\u0061'.repeat(12)}${word(i)}":1`, 9900),
  ),
  json(
    'names that are numbers',
    object((i) => `"${(i * 7919) % 4_294_967_290}":1`, 9900),
  ),
  json(
    'the same name',
    object(() => '"a":1'),
  ),
  json(
    'short strings',
    list((i) => `"${word(i)}"`, 9_990),
  ),
  json(
    'empty texts',
    filled('{"text":[', () => '""', ',', ']}'),
  ),
  json(
    '9,990 texts',
    filled('{"target_lang":"DE","text":[', (i) => `"${word(i)}"`, ',', ']}', 9_990),
  ),
  json(
    'as many texts as bytes allow',
    filled('{"target_lang":"DE","text":[', (i) => `"${word(i)}"`, ',', ']}'),
  ),
  json(
    'numbers',
    list(() => '1.7976931348623157e308'),
  ),
  json('one number', `[${'1'.repeat(BODY_BYTES - 2)}]`),
  json('escapes', text('\\n')),
  json('characters as escapes', text('\\ud83d\\ude00')),
  json('characters beyond the first plane', text('😀')),
  json('half of a surrogate pair behind all', text('é').replace('"]', '\\ud83d"]')),
  json(
    'a context of 1 MiB',
    filled('{"target_lang":"DE","text":["a"],"context":"', () => '😀', '', '"}'),
  ),
  json(
    'an unknown name of 1 MiB',
    filled('{"', () => 'é', '', '":1}'),
  ),
  json(
    'white space',
    filled('', () => ' ', '', '{}'),
  ),
  json('an error at the end', list(() => '1').replace(']', 'x')),
  json(
    '5,000 terms',
    filled(
      '{"name":"n","source_lang":"EN","target_lang":"DE","entries":{',
      (i) => `"${word(i)}${'é'.repeat(40)}":"${'ü'.repeat(40)}"`,
      ',',
      '}}',
      5000,
    ),
  ),
  json(
    'terms in much white space',
    filled(
      '{"name":"n","source_lang":"EN","target_lang":"DE","entries":{',
      (i) => `"${' '.repeat(90)}${word(i)}${' '.repeat(90)}":"a"`,
      ',',
      '}}',
      5000,
    ),
  ),
  json(
    'names joined by commas',
    filled('{"target_lang":"DE","text":["a"],"tag_handling":"xml","ignore_tags":"', () => ',', '', '"}'),
  ),
  form('empty fields', 'a&'.repeat(BODY_BYTES / 2)),
  form('ampersands', '&'.repeat(BODY_BYTES)),
  form(
    'escapes of ASCII',
    filled('text=', () => '%41', '', ''),
  ),
  form(
    'escapes of other characters',
    filled('text=', () => '%f0%9f%98%80', '', ''),
  ),
  form(
    'escapes and letters',
    filled('q=', () => 'a%c3%a9+', '', ''),
  ),
  form(
    'pluses',
    filled('text=', () => '+', '', ''),
  ),
  form(
    'pluses and letters in 1,000 fields',
    filled('', () => `text=${'+x'.repeat(500)}`, '&', '', 1000),
  ),
  form(
    'a broken escape at the end',
    filled('text=', () => '%41', '', '%zz'),
  ),
  form(
    'line ends',
    filled('q=', () => '%0D%0A', '', ''),
  ),
  form(
    '10,000 entries',
    entries((i) => `${word(i)}${'e'.repeat(40)}%09${'x'.repeat(40)}`, 10_000),
  ),
  form(
    'entries that are empty lines',
    entries(() => ''),
  ),
  form(
    'entries of commas',
    filled('name=n&source_lang=en&target_lang=de&entries_format=csv&entries=', () => ',', '', ''),
  ),
  form(
    'entries of doubled quotes',
    filled('name=n&source_lang=en&target_lang=de&entries_format=csv&entries="', () => '""', '', '",b'),
  ),
  parts(
    'empty parts',
    filled('', () => part('q', ''), '', '--B--'),
  ),
  parts(
    'parts with long heads',
    filled('', (i) => part(`${word(i)}${'n'.repeat(900)}`, ''), '', '--B--', 999),
  ),
  parts(
    'heads of many lines',
    filled(
      '',
      () => `--B\r\n${'content-type: text/plain\r\n'.repeat(36)}content-disposition: form-data; name="q"\r\n\r\n\r\n`,
      '',
      '--B--',
      999,
    ),
  ),
  parts('what nearly is a boundary', part('q', '\r\n--'.repeat(BODY_BYTES / 4 - 50)).concat('--B--')),
  parts('line ends in a part', part('q', '\r\n'.repeat(BODY_BYTES / 2 - 50)).concat('--B--')),
];

const PIECES: readonly ((index: number) => string)[] = [
  () => '""',
  () => '1',
  () => '-1.5e-300',
  () => 'null',
  () => '[]',
  () => '{}',
  () => '[[[[]]]]',
  (i) => `"${word(i)}"`,
  (i) => `"${word(i)}😀"`,
  (i) => `"\\u00e9\\n${word(i)}"`,
  (i) => `{"${word(i)}":${i}}`,
  (i) => `{"a":{"${word(i)}":[]}}`,
  (i) => `["${word(i)}",{"b":null}]`,
];
const FIELDS: readonly ((index: number) => string)[] = [
  () => 'a',
  () => 'text=',
  () => '=',
  (i) => `${word(i)}=%c3%a9`,
  (i) => `q=${word(i)}+%2b`,
  (i) => `dictionaries[${i}].entries=a%09b`,
  () => `entries=${'%0a'.repeat(500)}`,
];

const piece = fc.constantFrom(...PIECES);
const some = fc.array(piece, { minLength: 1, maxLength: 4 });
const mixed =
  (of: readonly ((index: number) => string)[]) =>
  (index: number): string =>
    of[index % of.length]!(index);
const count = fc.constantFrom(400, 4900, 9900, 1_000_000);
const ends = fc.constantFrom('', ']', '}', '"', '\\', '\0', '😀');

/** Bodies of 1 MiB, or of the maximum number of pieces, made of expensive pieces. */
export const costlyBody: fc.Arbitrary<CostlyBody> = fc.oneof(
  fc.tuple(some, count, ends, fc.boolean()).map(([of, most, end, closed]) => {
    const body = filled('{"text":[', mixed(of), ',', closed ? ']}' : end, most);
    return json(`texts of ${most} pieces`, body);
  }),
  fc.tuple(some, count, fc.integer({ min: 0, max: 80 })).map(([of, most, padding]) =>
    json(
      `members of ${most} pieces`,
      object((i) => `"${word(i).padEnd(padding, 'k')}":${mixed(of)(i)}`, most),
    ),
  ),
  fc.tuple(piece, fc.integer({ min: 1, max: 70 })).map(([of, depth]) =>
    json(
      `nests of ${depth}`,
      list((i) => '['.repeat(depth) + of(i) + ']'.repeat(depth), Math.floor(4900 / depth)),
    ),
  ),
  fc
    .tuple(fc.array(fc.constantFrom(...FIELDS), { minLength: 1, maxLength: 4 }), fc.constantFrom(999, 1_000_000))
    .map(([of, most]) => form(`${most} fields`, filled('', mixed(of), '&', '', most))),
  fc.tuple(fc.array(fc.constantFrom(...FIELDS), { minLength: 1, maxLength: 3 }), fc.constantFrom(999, 1_000_000)).map(([of, most]) =>
    parts(
      `${most} parts`,
      filled('', (i) => part(word(i), mixed(of)(i)), '', '--B--', most),
    ),
  ),
);
