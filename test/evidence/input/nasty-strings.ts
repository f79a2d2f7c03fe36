// Strings that break programs: every kind that some layer between a caller and an engine might misinterpret.
import { MADE_STRINGS } from './made-strings.ts';

/** Looked up, compared or converted, these are not what they seem. */
const WORDS_OF_LANGUAGES = [
  ['null', 'undefined', 'NaN', 'Infinity', '-Infinity', 'true', 'false', 'nil', 'None', 'NULL', 'void', '[object Object]', '()=>{}'],
  ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'then', 'length', 'arguments'],
  ['__proto__.polluted', 'constructor.prototype.polluted', 'a[__proto__][b]', 'self', 'this', 'globalThis', 'process.exit(1)'],
].flat();

const NUMBERS = [
  ['0', '-0', '+0', '00', '1', '-1', '1.', '.1', '1e400', '-1e400', '1e-400', '0x10', '0b1', '0o7', '1_000', '1,000', '1.000,00'],
  [
    '9007199254740993',
    '18446744073709551616',
    '-9223372036854775809',
    '2147483648',
    '4294967296',
    '0.1',
    '1/0',
    '٣',
    '１２',
    '²',
    '½',
    'Ⅷ',
  ],
].flat();

const BLANKS = [
  [
    ' ',
    '  ',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '\v',
    '\f',
    '\u0085',
    '\u00a0',
    '\u1680',
    '\u2000',
    '\u2003',
    '\u2009',
    '\u200a',
    '\u2028',
    '\u2029',
  ],
  ['\u202f', '\u205f', '\u3000', '\ufeff', ' leading', 'trailing ', '\tboth\t', 'in  between', '\n\n\n', 'a\r\nb', 'a\rb', 'a\u2028b'],
].flat();

const CONTROLS = [
  [
    '\0',
    'a\0b',
    '\0\0\0',
    '\u0001',
    '\u0007',
    '\b',
    '\u001b[31mred\u001b[0m',
    '\u001b]0;title\u0007',
    '\u001b[2J',
    '\u007f',
    '\u0080',
    '\u009b31m',
  ],
  Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((c) => !'\0\u0001\u0007\b\t\n\v\f\r'.includes(c)),
].flat();

const INVISIBLE = [
  [
    '\u200b',
    '\u200c',
    '\u200d',
    '\u2060',
    '\u00ad',
    'zero\u200bwidth',
    'soft\u00adhyphen',
    '\u180e',
    '\u034f',
    '\u061c',
    '\u115f',
    '\u3164',
    '\uffa0',
  ],
  [
    '\u202eright to left',
    '\u202d',
    '\u2066isolated\u2069',
    '\u200e',
    '\u200f',
    'a\u202eb\u202cc',
    '\u{e0001}\u{e0041}\u{e007f}',
    '\u{1d173}',
  ],
].flat();

const MARKS = [
  [
    'a\u0301',
    'e\u0301\u0302\u0303\u0304\u0305',
    '\u0301',
    `Z${'\u0300\u0316'.repeat(40)}`,
    '\u0e33',
    '\u0ddd',
    'ก็็็็็็็',
    'क्षि',
    'ẛ̣',
    '\u1e9b\u0323',
    'ﬁ',
    'ǆ',
  ],
  ['é', 'e\u0301', 'Å', '\u212b', 'A\u030a', 'İ', 'ı', 'ß', 'ẞ', 'ſ', '\u212a', 'ŉ', 'ΐ', 'ᾳ', 'Σίσυφος', 'ΣΊΣΥΦΟΣ'],
].flat();

const PICTURES = [
  [
    '👍',
    '👍🏽',
    '👨‍👩‍👧‍👦',
    '🏳️‍🌈',
    '🇩🇪',
    '🇩',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '1️⃣',
    '☃',
    '☃\ufe0e',
    '☃\ufe0f',
    '🫠',
    '\u{1f9d1}\u200d',
  ],
  ['𝓣𝓮𝔁𝓽', '𠜎𠜱𠝹', '\u{10ffff}', '\u{10000}', '\uffff', '\ufffe', '\ufdd0', '\u{1fffe}', '\ue000', '\u{f0000}', '\ufffd', '🀀'.repeat(60)],
].flat();

const SCRIPTS = [
  [
    'Größe',
    'naïve café',
    'Žluťoučký kůň',
    'Łódź',
    'Đặng',
    'Ελληνικά',
    'Привет, мир',
    'שלום עולם',
    'مرحبا بالعالم',
    'سلام\u200cعلیکم',
    'नमस्ते',
  ],
  [
    'สวัสดีชาวโลก',
    '你好，世界',
    'こんにちは世界',
    'ﾊﾛｰ',
    '안녕하세요',
    '\u1112\u1161\u11ab',
    'ᚠᛇᚻ',
    '𐎀𐎁',
    'ꙮ',
    'ჰელოუ',
    'Բարեւ',
    'ⵣ',
    'ᏣᎳᎩ',
    '༄༅',
    '😀مرحبا abc',
  ],
].flat();

const QUOTING = [
  [
    '"',
    "'",
    '`',
    '\\',
    '\\\\',
    '\\"',
    "\\'",
    '""',
    "''",
    '\\n',
    '\\u0041',
    '\\ud800',
    '\\x41',
    '\\0',
    '“curly”',
    '‘curly’',
    '„Gänsefüßchen“',
  ],
  [
    '«guillemets»',
    '{',
    '}',
    '[',
    ']',
    '{}',
    '[]',
    '{"text":["x"]}',
    '"],"target_lang":"FR',
    '","context":"',
    ',',
    ':',
    '//',
    '/* */',
    '<!--',
    ']]>',
  ],
].flat();

const MARKUP = [
  [
    '<b>bold</b>',
    '<x id="1"/>',
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '"><svg/onload=alert(1)>',
    'javascript:alert(1)',
  ],
  [
    '<?xml version="1.0"?>',
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
    '&b;',
    '&amp;',
    '&#0;',
    '&#x110000;',
    '<![CDATA[x]]>',
    '</text>',
  ],
  [
    '{{7*7}}',
    '${7*7}',
    '#{7*7}',
    '<%= 7*7 %>',
    '{% raw %}',
    '%s%s%n',
    '%d',
    '{0}',
    '{name, plural, one {# a} other {# b}}',
    '$t(key)',
    '@:linked',
    '[link](javascript:1)',
  ],
].flat();

const COMMANDS = [
  [
    "' OR '1'='1",
    "'; DROP TABLE teams; --",
    '1; SELECT pg_sleep(9)',
    '" OR ""="',
    "admin'--",
    '; ls',
    '| id',
    '$(id)',
    '`id`',
    '&& id',
    '> /tmp/x',
    '*',
  ],
  [
    '../../etc/passwd',
    '..\\..\\windows',
    '/dev/null',
    'CON',
    'file:///etc/passwd',
    'http://169.254.169.254/',
    'gopher://127.0.0.1:6379/',
    '${jndi:ldap://127.0.0.1/a}',
  ],
  [
    'FLUSHALL',
    '*1\r\n$8\r\nFLUSHALL\r\n',
    'redis.call("FLUSHALL")',
    '")redis.call(',
    'return 1',
    '{team}',
    '}{',
    'KEYS *',
    '%00',
    '%2e%2e',
    '%c0%af',
    '%',
  ],
].flat();

const WIRE = [
  [
    '\r\nSet-Cookie: a=b',
    '\r\n\r\nHTTP/1.1 200 OK\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    '0\r\n\r\n',
    'a\r\n b',
    '\n.\n',
    'X: y',
    'chunked',
    'close',
    '100-continue',
  ],
  [
    'utf-7 +ADw-script+AD4-',
    '=?UTF-8?B?YQ==?=',
    'data:,x',
    'multipart/form-data; boundary=x',
    '--x',
    'application/json; charset=utf-16',
    'a'.repeat(900),
  ],
].flat();

const THOUGHT_OF = [
  WORDS_OF_LANGUAGES,
  NUMBERS,
  BLANKS,
  CONTROLS,
  INVISIBLE,
  MARKS,
  PICTURES,
  SCRIPTS,
  QUOTING,
  MARKUP,
  COMMANDS,
  WIRE,
].flat();

/** All different; together about a thousand. */
export const NASTY_STRINGS: readonly string[] = [...new Set([...THOUGHT_OF, ...MADE_STRINGS])];
