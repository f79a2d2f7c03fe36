// Bodies that differ from valid UTF-8 or JSON in a few bytes, with the characters to charge, or the reason for a refusal.

/** Characters that are charged, or the reason of the refusal. */
type Reading = number | 'not UTF-8' | 'not JSON' | 'half a pair' | 'not an object';

interface ByteCase {
  readonly name: string;
  readonly body: Uint8Array;
  readonly reading: Reading;
}

const BEFORE = Buffer.from('{"text":["');
const AFTER = Buffer.from('"],"target_lang":"DE"}');
const WHOLE = Buffer.from('{"text":["ab"],"target_lang":"DE"}');

/** These bytes, in hexadecimal, for a text. */
function inText(name: string, hex: string, reading: Reading): ByteCase {
  return { name, body: Buffer.concat([BEFORE, Buffer.from(hex.replaceAll(' ', ''), 'hex'), AFTER]), reading };
}

/** An escape of JSON for a text. */
function escaped(name: string, text: string, reading: Reading): ByteCase {
  return { name, body: Buffer.concat([BEFORE, Buffer.from(text), AFTER]), reading };
}

function whole(name: string, body: Uint8Array, reading: Reading): ByteCase {
  return { name, body, reading };
}

const withZeros = (size: 2 | 4, big: boolean): Buffer => {
  const units = Array.from(WHOLE, (byte) => Array.from({ length: size }, (_, i) => (i === (big ? size - 1 : 0) ? byte : 0)));
  return Buffer.from(units.flat());
};

export const BYTE_CASES: readonly ByteCase[] = [
  inText('the first of two bytes', 'c2 80', 1),
  inText('the last of two bytes', 'df bf', 1),
  inText('the first of three bytes', 'e0 a0 80', 1),
  inText('the last below the surrogates', 'ed 9f bf', 1),
  inText('the first above the surrogates', 'ee 80 80', 1),
  inText('the last of three bytes', 'ef bf bf', 1),
  inText('a code point that is no character', 'ef b7 90', 1),
  inText('a byte order mark within', '61 ef bb bf 62', 3),
  inText('the first of four bytes', 'f0 90 80 80', 1),
  inText('the last there is', 'f4 8f bf bf', 1),
  inText('DEL', '7f', 1),
  inText('a C1 control', 'c2 85', 1),
  inText('line and paragraph separators', 'e2 80 a8 e2 80 a9', 2),
  inText('a lone continuation', '80', 'not UTF-8'),
  inText('two lone continuations', 'bf bf', 'not UTF-8'),
  inText('an overlong slash in two bytes', 'c0 af', 'not UTF-8'),
  inText('an overlong NUL', 'c0 80', 'not UTF-8'),
  inText('the largest overlong of two bytes', 'c1 bf', 'not UTF-8'),
  inText('an overlong slash in three bytes', 'e0 80 af', 'not UTF-8'),
  inText('the largest overlong of three bytes', 'e0 9f bf', 'not UTF-8'),
  inText('an overlong slash in four bytes', 'f0 80 80 af', 'not UTF-8'),
  inText('the largest overlong of four bytes', 'f0 8f bf bf', 'not UTF-8'),
  inText('the first high surrogate', 'ed a0 80', 'not UTF-8'),
  inText('the last low surrogate', 'ed bf bf', 'not UTF-8'),
  inText('a pair of surrogates in three bytes each', 'ed a0 bd ed b8 80', 'not UTF-8'),
  inText('the first above the last there is', 'f4 90 80 80', 'not UTF-8'),
  inText('a lead of five bytes', 'f8 88 80 80 80', 'not UTF-8'),
  inText('a lead of six bytes', 'fc 84 80 80 80 80', 'not UTF-8'),
  inText('FE', 'fe', 'not UTF-8'),
  inText('FF', 'ff', 'not UTF-8'),
  inText('one of two bytes', 'c3', 'not UTF-8'),
  inText('two of three bytes', 'e2 82', 'not UTF-8'),
  inText('three of four bytes', 'f0 9f 98', 'not UTF-8'),
  inText('a lead before another character', 'c3 28', 'not UTF-8'),
  inText('three bytes with ASCII in the middle', 'e2 28 a1', 'not UTF-8'),
  inText('Latin-1', '47 72 f6 df 65', 'not UTF-8'),
  inText('Shift JIS', '93 fa 96 7b', 'not UTF-8'),
  inText('NUL as it is', '61 00 62', 'not JSON'),
  inText('a line feed as it is', '61 0a 62', 'not JSON'),
  inText('a tab as it is', '61 09 62', 'not JSON'),
  inText('an escape character as it is', '1b', 'not JSON'),
  inText('a broken escape', '5c', 'not JSON'),
  escaped('an escaped NUL', '\\u0000', 1),
  escaped('an escaped pair', '\\ud83d\\ude00', 1),
  escaped('two escaped pairs', '\\ud83d\\ude00\\uD83D\\uDE00', 2),
  escaped('an escaped high half', '\\ud83d', 'half a pair'),
  escaped('an escaped low half', '\\ude00', 'half a pair'),
  escaped('an escaped pair the wrong way round', '\\ude00\\ud83d', 'half a pair'),
  escaped('a high half before a character', '\\ud83dx', 'half a pair'),
  escaped('a high half before a pair', '\\ud83d\\ud83d\\ude00', 'half a pair'),
  escaped('an escape of three digits', '\\u00e', 'not JSON'),
  escaped('an escape in capitals', '\\U0041', 'not JSON'),
  escaped('an escape of another language', '\\x41', 'not JSON'),
  escaped('every short escape', '\\"\\\\\\/\\b\\f\\n\\r\\t', 8),
  whole('a byte order mark before', Buffer.concat([Buffer.from('efbbbf', 'hex'), WHOLE]), 'not JSON'),
  whole('only a byte order mark', Buffer.from('efbbbf', 'hex'), 'not JSON'),
  whole('a bad byte behind', Buffer.concat([WHOLE, Buffer.of(0xff)]), 'not UTF-8'),
  whole('NUL behind', Buffer.concat([WHOLE, Buffer.of(0)]), 'not JSON'),
  whole('blanks around', Buffer.concat([Buffer.from(' \t\r\n'), WHOLE, Buffer.from(' \t\r\n')]), 2),
  whole('a no-break space around', Buffer.concat([Buffer.from('c2a0', 'hex'), WHOLE]), 'not JSON'),
  whole('a form feed around', Buffer.concat([Buffer.of(0x0c), WHOLE]), 'not JSON'),
  whole('UTF-16, little end first', withZeros(2, false), 'not JSON'),
  whole('UTF-16, big end first', withZeros(2, true), 'not JSON'),
  whole('UTF-32, big end first', withZeros(4, true), 'not JSON'),
  whole('UTF-16 with its mark', Buffer.concat([Buffer.from('fffe', 'hex'), withZeros(2, false)]), 'not UTF-8'),
  whole('gzip', Buffer.from('1f8b0800000000000003ab564a5402000000ffff', 'hex'), 'not UTF-8'),
  whole('a number', Buffer.from('12'), 'not an object'),
  whole('two values', Buffer.concat([WHOLE, WHOLE]), 'not JSON'),
];
