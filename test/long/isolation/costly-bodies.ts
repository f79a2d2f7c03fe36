// Bodies that cost their parser as much as possible for their length: each the worst of its kind when it was found.
export interface CostlyBody {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}

/** The default of `limits.body_bytes`. */
const BODY_BYTES = 1_048_576;

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

const JSON_BODIES: readonly (readonly [name: string, body: string])[] = [
  ['brackets that never close', '['.repeat(BODY_BYTES)],
  ['objects that never close', filled('', () => '{"a":', '', '')],
  ['lists of lists', list(() => '[]')],
  ['empty objects', list(() => '{}')],
  ['4,900 objects of other names', list((i) => `{"${word(i)}":1}`, 4900)],
  ['nests of 60', list(() => '['.repeat(60) + ']'.repeat(60))],
  ['all names different', object((i) => `"${word(i)}":1`)],
  ['9,900 long names', object((i) => `"${word(i).padEnd(90, 'z')}":1`, 9900)],
  ['9,900 escaped names', object((i) => `"${'\\u0061'.repeat(12)}${word(i)}":1`, 9900)],
  ['names that are numbers', object((i) => `"${(i * 7919) % 4_294_967_290}":1`, 9900)],
  ['the same name', object(() => '"a":1')],
  ['short strings', list((i) => `"${word(i)}"`, 9_990)],
  ['empty texts', filled('{"text":[', () => '""', ',', ']}')],
  ['9,990 texts', filled('{"target_lang":"DE","text":[', (i) => `"${word(i)}"`, ',', ']}', 9_990)],
  ['as many texts as bytes allow', filled('{"target_lang":"DE","text":[', (i) => `"${word(i)}"`, ',', ']}')],
  ['numbers', list(() => '1.7976931348623157e308')],
  ['one number', `[${'1'.repeat(BODY_BYTES - 2)}]`],
  ['escapes', text('\\n')],
  ['characters as escapes', text('\\ud83d\\ude00')],
  ['characters beyond the first plane', text('😀')],
  ['half of a surrogate pair behind all', text('é').replace('"]', '\\ud83d"]')],
  ['a context of 1 MiB', filled('{"target_lang":"DE","text":["a"],"context":"', () => '😀', '', '"}')],
  ['an unknown name of 1 MiB', filled('{"', () => 'é', '', '":1}')],
  ['white space', filled('', () => ' ', '', '{}')],
  ['an error at the end', list(() => '1').replace(']', 'x')],
  [
    '5,000 terms',
    filled(
      '{"name":"n","source_lang":"EN","target_lang":"DE","entries":{',
      (i) => `"${word(i)}${'é'.repeat(40)}":"${'ü'.repeat(40)}"`,
      ',',
      '}}',
      5000,
    ),
  ],
  [
    'terms in much white space',
    filled(
      '{"name":"n","source_lang":"EN","target_lang":"DE","entries":{',
      (i) => `"${' '.repeat(90)}${word(i)}${' '.repeat(90)}":"a"`,
      ',',
      '}}',
      5000,
    ),
  ],
  ['names joined by commas', filled('{"target_lang":"DE","text":["a"],"tag_handling":"xml","ignore_tags":"', () => ',', '', '"}')],
];

const FORMS: readonly (readonly [name: string, body: string])[] = [
  ['empty fields', 'a&'.repeat(BODY_BYTES / 2)],
  ['ampersands', '&'.repeat(BODY_BYTES)],
  ['escapes of ASCII', filled('text=', () => '%41', '', '')],
  ['escapes of other characters', filled('text=', () => '%f0%9f%98%80', '', '')],
  ['escapes and letters', filled('q=', () => 'a%c3%a9+', '', '')],
  ['pluses', filled('text=', () => '+', '', '')],
  ['pluses and letters in 1,000 fields', filled('', () => `text=${'+x'.repeat(500)}`, '&', '', 1000)],
  ['a broken escape at the end', filled('text=', () => '%41', '', '%zz')],
  ['line ends', filled('q=', () => '%0D%0A', '', '')],
  ['10,000 entries', entries((i) => `${word(i)}${'e'.repeat(40)}%09${'x'.repeat(40)}`, 10_000)],
  ['entries that are empty lines', entries(() => '')],
  ['entries of commas', filled('name=n&source_lang=en&target_lang=de&entries_format=csv&entries=', () => ',', '', '')],
  ['entries of doubled quotes', filled('name=n&source_lang=en&target_lang=de&entries_format=csv&entries="', () => '""', '', '",b')],
];

const PARTS: readonly (readonly [name: string, body: string])[] = [
  ['empty parts', filled('', () => part('q', ''), '', '--B--')],
  ['parts with long heads', filled('', (i) => part(`${word(i)}${'n'.repeat(900)}`, ''), '', '--B--', 999)],
  [
    'heads of many lines',
    filled(
      '',
      () => `--B\r\n${'content-type: text/plain\r\n'.repeat(36)}content-disposition: form-data; name="q"\r\n\r\n\r\n`,
      '',
      '--B--',
      999,
    ),
  ],
  ['what nearly is a boundary', part('q', '\r\n--'.repeat(BODY_BYTES / 4 - 50)).concat('--B--')],
  ['line ends in a part', part('q', '\r\n'.repeat(BODY_BYTES / 2 - 50)).concat('--B--')],
];

/** Every one of these was or is the most expensive of its kind at some limit. */
export const COSTLY_BODIES: readonly CostlyBody[] = [
  ...JSON_BODIES.map(([name, body]) => ({ name, contentType: JSON_TYPE, body })),
  ...FORMS.map(([name, body]) => ({ name, contentType: FORM_TYPE, body })),
  ...PARTS.map(([name, body]) => ({ name, contentType: PARTS_TYPE, body })),
];
