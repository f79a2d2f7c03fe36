// Generated strings, because a list would contain only known cases: edges of Unicode, injections by every delimiter.
const LONG_BYTES = 300;

const each = (words: string): string[] => words.trim().split(/\s+/);
const points = (...codes: readonly number[]): string => String.fromCodePoint(...codes);
const pairs = (left: readonly string[], right: readonly string[], join: (a: string, b: string) => string): string[] =>
  left.flatMap((a) => right.map((b) => join(a, b)));

/** First code points of blocks, each also the end of the preceding block; in hexadecimal. */
const BLOCKS = each(`
  80 100 180 250 2b0 300 370 400 500 530 590 600 700 750 780 7c0 800 860 8a0 900 980 a00 a80 b00 b80 c00 c80 d00 d80 e00 e80 f00 1000
  10a0 1100 1200 13a0 1400 1680 16a0 1700 1780 1800 18b0 1900 1a00 1b00 1c00 1d00 1dc0 1e00 1f00 2000 2070 20a0 20d0 2100 2190 2200
  2300 2400 2440 2460 2500 2600 2700 2800 2900 2c00 2d80 2e80 2f00 2ff0 3000 3040 30a0 3130 3400 4dc0 4e00 a000 a4d0 a500 a640 a720
  a800 a960 aa00 abc0 ac00 d7b0 f900 fb00 fb50 fe00 fe20 fe30 fe70 ff00 10080 10280 10300 10400 10800 10a00 11000 12000 13000 16800
  1b000 1bc00 1d000 1d400 1e000 1e900 1ee00 1f000 1f1e6 1f300 1f600 1f900 20000 2f800 30000 e0100 f0000 100000`).map((hex) =>
  Number.parseInt(hex, 16),
);

const PLANES = Array.from({ length: 17 }, (_, plane) => plane * 0x10000);
const LATIN_WORDS = each('Ångström ﬁancée ½ⅷ² Ｆｕｌｌ 각하 ΐᾳ ǆ カ゛ド');

const UNICODE = [
  BLOCKS.map((first) => points(first - 1, first)),
  // Where the number of UTF-8 bytes changes.
  [points(0x7f, 0x80), points(0x7ff, 0x800), points(0xd7ff, 0xe000), points(0xffff, 0x10000)],
  PLANES.map((plane) => points(plane + 0xfffe, plane + 0xffff)),
  ['NFC', 'NFD', 'NFKC', 'NFKD'].flatMap((form) => LATIN_WORDS.map((word) => word.normalize(form))),
  // Decoded in the wrong encoding, once and twice.
  each('Größe Ελλάδα 日本語 😀').flatMap((word) => [mojibake(word), mojibake(mojibake(word))]),
].flat();

const MARKERS = [0x200b, 0x200c, 0x200d, 0x2060, 0x2063, 0xfeff, 0xad, 0x34f, 0x61c, 0x180e, 0xfe0f, 0xe0001, 0xe0020];
const DIRECTIONS = [0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
const STACKED = [0x301, 0x316, 0x488, 0x64b, 0x5b0, 0x93c, 0xe47, 0x20dd, 0x1ab0];

const UNSEEN = [
  MARKERS.flatMap((code) => [`pass${points(code)}word`, points(code).repeat(20)]),
  DIRECTIONS.map((code) => `user${points(code)}txt.exe`),
  DIRECTIONS.map((code) => `שלום ${points(code)}abc 123`),
  STACKED.flatMap((code) => [points(code), `a${points(code).repeat(3)}`, `e${points(code).repeat(90)}`]),
].flat();

const PEOPLE = each('👩 👨 🧑');
const PICTURED = [
  pairs(PEOPLE, each('🏻 🏼 🏽 🏾 🏿'), (person, skin) => person + skin),
  pairs(PEOPLE, each('🚀 🎨 ⚕️ ✈️'), (person, trade) => `${person}\u200d${trade}`),
  pairs(each('0 9 # *'), ['\u20e3', '\ufe0f\u20e3'], (key, cap) => key + cap),
  each('DE XX QQ A').map((country) => points(...Array.from(country, (letter) => 0x1f1e6 + letter.charCodeAt(0) - 65))),
  ['👩‍👩‍👧‍👦‍👧', '❤️‍🔥', '🏴‍☠️', '👍\u200d', '\u200d👍', '🏽', '🇩🇪🇩', '🐻‍❄️🐻‍❄️'],
].flat();

/** The digit zero of scripts, in hexadecimal. */
const ZEROS = each('660 6f0 7c0 966 9e6 be6 e50 f20 1040 17e0 ff10 104a0 1d7ce 1fbf0').map((hex) => Number.parseInt(hex, 16));
const NUMERALS = [
  ZEROS.map((nought) => points(nought + 1, nought + 2, nought)),
  each('1e3 1E+3 0x1p3 0xFFFFFFFFFFFFFFFF 077 1__0 1e 1e+ .e1 - -- +-1 1e309 5e-324 2.5e-324 0.30000000000000004 1.7976931348623157e308'),
  each('1٫5 1٬000 ∞ -∞ 1⁄2 0.1+0.2 12:30:45 1e1000000000 -9223372036854775808 340282366920938463463374607431768211456 #NUM! 1n 0b2 0o8'),
  each('0000-00-00 2026-02-30 24:00:00 1970-01-01T00:00:00Z 9999-12-31T23:59:60Z +275760-09-13T00:00:01Z P1Y @0 2026-W53-7'),
].flat();

const EXPRESSIONS = each('7*7 self constructor.constructor("x")() env.PATH');
const DELIMITERS = [
  '{{ }}',
  '{{{ }}}',
  '${ }',
  '#{ }',
  '<%= %>',
  '{% %}',
  '@{ }',
  '*{ }',
  '[[ ]]',
  '$( )',
  '` `',
  '<?= ?>',
  '%{ }',
  '~{ }',
];
const SQL_TAILS = [' OR 1=1--', '; DROP TABLE keys;--', ' UNION SELECT NULL,NULL--', '||(SELECT 1)||', '/**/AND/**/1=2', ' AND SLEEP(9)#'];
const SHELL_JOINS = ['; ', '| ', '& ', '&& ', '\n', '$(', '`', '%0a', '<(', '^&'];
const TAGS = each('script svg img iframe body style math template x:y');
const HANDLERS = ['onload=alert(1)', 'src=javascript:alert(1)', 'style=a:expression(1)', '/onerror=alert`1`'];

const INJECTED = [
  pairs(DELIMITERS, EXPRESSIONS, (delimiter, expression) => delimiter.replace(' ', () => expression)),
  pairs(["'", '"', '`', ')', '\\', "%27'"], SQL_TAILS, (quote, tail) => quote + tail),
  pairs(SHELL_JOINS, ['id', 'cat /etc/passwd'], (join, command) => join + command),
  pairs(TAGS, HANDLERS, (tag, handler) => `<${tag} ${handler}>`),
  pairs(each('% %% %1$ %08 %- %.9999 %*'), each('s n x p d c'), (start, kind) => start + kind),
  // Another form of the same three characters.
  [
    encodeURIComponent('<a>'),
    '%253Ca%253E',
    '&lt;a&gt;',
    '&#60;a&#62;',
    '&#x3c;a&#x3e;',
    '\\u003ca\\u003e',
    '\\x3ca\\x3e',
    '+ADw-a+AD4-',
    '＜a＞',
  ],
  [
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(1)',
    "=cmd|'/c calc'!A0",
    '=HYPERLINK("http://a")',
    '*)(uid=*',
    "' or '1'='1",
    '")) or true(',
    '$ne',
    '{"$gt":""}',
  ],
  [
    '!!js/function x',
    '!!python/object:a.b',
    '&a [*a]',
    '---',
    '...',
    '<<: *a',
    '? a',
    '- a',
    '~',
    'yes',
    'off',
    '>-',
    '|',
    '# a',
    'a: b: c',
  ],
  [
    'O:8:"stdClass":0:{}',
    'a:1:{i:0;i:1;}',
    'rO0ABXNy',
    'gASVAAAA',
    '\u0080\u0004\u0095',
    '<!--#exec cmd="id"-->',
    '(a+)+$',
    '(?<a>.)\\k<a>',
    '[',
    '\\1',
  ],
].flat();

const CLIMBS = ['../../', '..\\', '%2e%2e/', '..%2f', '..%5c', '%252e%252e%252f', '..%c0%af', '....//', '..;/', '/./'];
const PLACES = [
  CLIMBS.map((climb) => `${climb.repeat(4)}etc/passwd`),
  each(
    'PRN AUX NUL COM1 LPT9 CON.txt nul.json . .. ... ~ ~root .git/config .env \\\\host\\share C:\\ file:///C:/ /proc/self/environ /dev/tty',
  ),
  each(
    'http://[::1]/ http://0/ http://2130706433/ http://a@b@c/ //a //\\a ftp://a mailto:a@b jar:file:///a!/b dict://a:1/ ldap://a tel:1 blob:null',
  ),
].flat();

const LOGGED = [
  ['\n', '\r', '\r\n', '\u2028', '\u0085', '\u000b'].map((end) => `${end}{"level":"error","msg":"a bug"}`),
  ['[2J', '[?1049h', '[6n', ']8;;http://a\u0007a', 'c', '(0', 'P1;2|a\u001b\\'].map((sequence) => `\u001b${sequence}`),
  each(
    '","level":"fatal "}{" \\",\\"a\\":\\" ":null,"a": ]}],[{ \\u0022,\\u0022 "\\u0000" {"__proto__":{"a":1}} {"a":1,"a":2} [1,] {a:1} NaN, //a',
  ),
].flat();

const RUNS = [
  [
    'a',
    ' ',
    '\t',
    '\n',
    '"',
    '\\',
    "'",
    '<',
    '&',
    '%',
    '{',
    '[',
    '(',
    '/',
    '.',
    ',',
    '0',
    '9',
    '\0',
    '\u00e9',
    '\u2028',
    '\u4e2d',
    '\u{1f600}',
    '\u0301',
  ].map((unit) => unit.repeat(Math.floor(LONG_BYTES / Buffer.byteLength(unit)))),
  ['[]', '{}', '()', '<>', '""', '\r\n', 'ab', '\u202e\u202c', 'e\u0301', '👍🏽'].map((unit) =>
    unit.repeat(Math.floor(LONG_BYTES / Buffer.byteLength(unit))),
  ),
  each('[ { ( <a>').map((open) => `${open.repeat(60)}x`),
].flat();

/** More than five hundred, all different. */
export const MADE_STRINGS: readonly string[] = [...new Set([UNICODE, UNSEEN, PICTURED, NUMERALS, INJECTED, PLACES, LOGGED, RUNS].flat())];

/** UTF-8 mistaken for one byte per character. */
function mojibake(word: string): string {
  return Buffer.from(word, 'utf8').toString('latin1');
}
