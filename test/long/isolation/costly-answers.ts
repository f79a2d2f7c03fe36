// Answers of engines that cost the gateway as much as possible for their length, in the shape of every protocol.

/** An answer by the number of texts that it is for. */
export type Answer = (texts: number) => Uint8Array;

interface Shape {
  readonly protocol: string;
  readonly options?: object;
  /** A whole answer around the JSON values of the translations. */
  readonly around: (values: readonly string[]) => string;
}

const escaped = (json: string): string => JSON.stringify(json);
const members = (values: readonly string[]): string => `{${values.map((value, i) => `"t${i}":${value}`).join(',')}}`;

/** Each protocol that reads JSON, with its wrapping. */
export const SHAPES: readonly Shape[] = [
  { protocol: 'native', around: (values) => `{"translations":[${values.map((value) => `{"text":${value}}`).join(',')}]}` },
  {
    protocol: 'deepl',
    options: { api_key: 'k' },
    around: (values) => `{"translations":[${values.map((v) => `{"text":${v}}`).join(',')}]}`,
  },
  { protocol: 'libretranslate', around: (values) => `{"translatedText":[${values.join(',')}]}` },
  { protocol: 'mtranserver', around: (values) => `{"results":[${values.join(',')}]}` },
  { protocol: 'apertium', around: ([value]) => `{"responseData":{"translatedText":${value!}},"responseStatus":200}` },
  {
    protocol: 'openai',
    options: { model: 'm' },
    around: (values) => `{"choices":[{"finish_reason":"stop","message":{"content":${escaped(members(values))}}}]}`,
  },
];

/** So long that, with its wrapping, an answer just stays below the default of `engine.response_bytes_max`. */
const ROOM_BYTES = 2_097_152 - 16_384;

const filled = (unit: string, bytes: number): string => unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))));

/** One string for each text, of this unit; as long as its protocol's wrapping leaves room for. */
const strings =
  (unit: string) =>
  ({ around }: Shape): Answer =>
  (texts) => {
    const growth = Buffer.byteLength(around([`"${filled(unit, 4096)}"`])) / 4096;
    const each = ROOM_BYTES / Math.max(1, growth) / texts;
    return Buffer.from(around(Array.from({ length: texts }, () => `"${filled(unit, each)}"`)));
  };

/** A right answer with one more member of this content. */
const extra =
  (content: string) =>
  ({ around }: Shape): Answer =>
  (texts) => {
    const right = around(Array.from({ length: texts }, () => '"Hallo"'));
    return Buffer.from(`{"x":${content},${right.slice(1)}`);
  };

const many = (one: (index: number) => string, mark = ','): string => {
  const pieces: string[] = [];
  for (let bytes = 0, i = 0; bytes < ROOM_BYTES - 20_000; i++) {
    const piece = one(i);
    pieces.push(piece);
    bytes += piece.length + mark.length;
  }
  return pieces.join(mark);
};
const word = (index: number): string => index.toString(36);
const some = (count: number, one: (index: number) => string): string => Array.from({ length: count }, (_, i) => one(i)).join(',');

/** What may stand in an answer of any protocol, each the worst of its kind. */
export const COSTLY_ANSWERS: readonly (readonly [name: string, answer: (shape: Shape) => Answer])[] = [
  ['plain letters', strings('a')],
  ['line breaks', strings('\\n')],
  ['escaped characters', strings('\\u4f60')],
  ['control characters', strings('\\u0001')],
  ['letters with accents', strings('é')],
  ['Chinese', strings('你')],
  ['emoji', strings('😀')],
  ['invisible characters', strings('\u200b')],
  ['escaped quotes', strings('\\"')],
  ['markup', strings('<b>&amp;</b>')],
  ['white space', strings(' ')],
  ['depth', extra('['.repeat(ROOM_BYTES))],
  ['depth with an end', extra(`${'['.repeat(ROOM_BYTES / 2)}${']'.repeat(ROOM_BYTES / 2)}`)],
  ['empty lists', extra(`[${many(() => '[]')}]`)],
  ['empty objects', extra(`[${many(() => '{}')}]`)],
  ['4,900 objects of other names', extra(`[${some(4900, (i) => `{"${word(i)}":1}`)}]`)],
  ['one huge number', extra('1'.repeat(ROOM_BYTES))],
  ['huge numbers', extra(`[${many(() => '1.7976931348623157e308')}]`)],
  ['9,900 huge numbers', extra(`[${some(9900, () => '1'.repeat(200))}]`)],
  ['different names', extra(`{${many((i) => `"${word(i)}":1`)}}`)],
  ['9,900 long names', extra(`{${some(9900, (i) => `"${word(i).padEnd(190, 'z')}":1`)}}`)],
  ['the same name', extra(`{${many(() => '"a":1')}}`)],
  ['9,900 strings', extra(`[${some(9900, (i) => `"${word(i).padEnd(190, 'é')}"`)}]`)],
  ['short strings', extra(`[${many((i) => `"${word(i)}"`)}]`)],
  ['white space between', extra(`${' '.repeat(ROOM_BYTES)}1`)],
  ['bytes that are not UTF-8', (shape) => (texts) => Buffer.concat([strings('é')(shape)(texts), Buffer.from([0xff])])],
];
