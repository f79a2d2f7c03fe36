// Strings that break programs, most of them generated, because a list would only have known cases: edges of Unicode, injections by
// every delimiter, what languages and protocols take for something else.

const words = (text: string): string[] => text.trim().split(/\s+/);
const points = (...codes: readonly number[]): string => String.fromCodePoint(...codes);
const hex = (text: string): number[] => words(text).map((word) => Number.parseInt(word, 16));
const pairs = (left: readonly string[], right: readonly string[], join: (a: string, b: string) => string): string[] =>
  left.flatMap((a) => right.map((b) => join(a, b)));
/** UTF-8 mistaken for one byte per character. */
const mojibake = (word: string): string => Buffer.from(word, 'utf8').toString('latin1');

/** Looked up, compared or converted, these are not what they seem. */
const MISTAKEN = [
  words(`null undefined NaN Infinity -Infinity true false nil None NULL void __proto__ constructor prototype toString hasOwnProperty
    valueOf __defineGetter__ then length arguments __proto__.polluted a[__proto__][b] self globalThis process.exit(1) ()=>{} yes off`),
  words(`0 -0 +0 00 1 -1 1. .1 1e400 -1e400 1e-400 0x10 0b1 0o7 1_000 1,000 1.000,00 9007199254740993 18446744073709551616 0.1+0.2 1/0
    -9223372036854775809 ٣ １２ ² ½ Ⅷ 1٫5 ∞ 5e-324 +-1 1e 0xFFFFFFFFFFFFFFFF 2026-02-30 24:00:00 9999-12-31T23:59:60Z P1Y @0`),
  // The digits one, two and zero of scripts, by their zeros.
  hex('660 6f0 7c0 966 9e6 be6 e50 f20 1040 17e0 ff10 104a0 1d7ce 1fbf0').map((zero) => points(zero + 1, zero + 2, zero)),
].flat();

/** First code points of blocks, each also the end of the preceding one. */
const BLOCKS = hex(`80 100 250 300 370 400 530 590 600 700 780 800 900 980 a00 b00 c00 d00 e00 f00 1000 10a0 1100 1200 13a0 1400 1680
  1780 1800 1900 1a00 1d00 1e00 1f00 2000 2070 2100 2190 2200 2300 2500 2600 2800 2e80 3000 3040 30a0 3130 3400 4e00 a000 ac00 f900
  fb00 fe00 ff00 10080 10300 10400 11000 12000 1d000 1d400 1f000 1f300 1f900 20000 30000 e0100 f0000 100000`);
const BLANKS = hex('9 a b c d 20 85 a0 1680 2000 2003 2009 200a 2028 2029 202f 205f 3000 feff');
const UNSEEN = hex('200b 200c 200d 2060 2063 ad 34f 61c 115f 180e 3164 ffa0 fe0f e0001 e0020 1d173');
const DIRECTIONS = hex('200e 200f 202a 202b 202c 202d 202e 2066 2067 2068 2069');
const STACKED = hex('301 316 488 64b 5b0 93c e47 20dd 1ab0');

const UNICODE = [
  BLOCKS.map((first) => points(first - 1, first)),
  // Where the number of UTF-8 bytes changes; the last of each plane; no characters, and private ones.
  hex('7f 7ff d7ff ffff').map((last) => points(last, last === 0xd7ff ? 0xe000 : last + 1)),
  Array.from({ length: 17 }, (_, plane) => points(plane * 0x1_0000 + 0xfffe, plane * 0x1_0000 + 0xffff)),
  hex('fdd0 e000 fffd 10ffff').map((code) => points(code)),
  Array.from({ length: 32 }, (_, code) => `a${points(code)}b`),
  hex('0 7f 80 9b').map((code) => points(code).repeat(3)),
  BLANKS.flatMap((code) => [points(code), `a${points(code)}`, `${points(code)}a`]),
  UNSEEN.flatMap((code) => [points(code), `pass${points(code)}word`]),
  DIRECTIONS.flatMap((code) => [`user${points(code)}txt.exe`, `שלום ${points(code)}abc 123`]),
  STACKED.flatMap((code) => [points(code), `e${points(code).repeat(90)}`]),
  ['NFC', 'NFD', 'NFKC', 'NFKD'].flatMap((form) => words('Ångström ﬁancée ½ⅷ² 각하 ΐᾳ ǆ カ゛ド').map((word) => word.normalize(form))),
  // Decoded in the wrong encoding, once and twice.
  words('Größe Ελλάδα 日本語 😀').flatMap((word) => [word, mojibake(word), mojibake(mojibake(word))]),
  words(`İ ı ß ẞ ſ ŉ Σίσυφος ΣΊΣΥΦΟΣ Å Å ẛ̣ क्षि ก็็็็็็็ Žluťoučký Łódź Đặng Привет مرحبا سلام‌علیکم नमस्ते สวัสดีชาวโลก 你好，世界 こんにちは世界 ﾊﾛｰ
    안녕하세요 ᚠᛇᚻ 𐎀𐎁 ꙮ ჰელოუ Բարեւ ⵣ ᏣᎳᎩ ༄༅ 😀مرحبا 𝓣𝓮𝔁𝓽 𠜎𠜱𠝹`),
].flat();

const PICTURES = [
  pairs(words('👩 👨 🧑'), words('🏻 🏽 🏿'), (person, skin) => person + skin),
  pairs(words('👩 🧑'), words('🚀 ⚕️ ✈️'), (person, trade) => `${person}\u200d${trade}`),
  pairs(words('0 9 # *'), ['\u20e3', '\ufe0f\u20e3'], (key, cap) => key + cap),
  words('DE XX A').map((country) => points(...Array.from(country, (letter) => 0x1f1e6 + letter.charCodeAt(0) - 65))),
  ['👨‍👩‍👧‍👦', '🏳️‍🌈', '❤️‍🔥', '🏴‍☠️', '👍\u200d', '\u200d👍', '🏽', '🇩🇪🇩', '☃\ufe0e', '🀀'.repeat(60)],
].flat();

const INJECTED = [
  pairs(
    ['{{ }}', '${ }', '#{ }', '<%= %>', '{% %}', '[[ ]]', '$( )', '` `', '%{ }'],
    words('7*7 self constructor.constructor("x")() env.PATH'),
    (delimiter, expression) => delimiter.replace(' ', () => expression),
  ),
  pairs(
    ["'", '"', '`', ')', '\\'],
    [' OR 1=1--', '; DROP TABLE keys;--', '/**/AND/**/1=2', '||(SELECT 1)||'],
    (quote, tail) => quote + tail,
  ),
  pairs(['; ', '| ', '&& ', '\n', '$(', '`', '%0a', '<('], ['id', 'cat /etc/passwd'], (join, command) => join + command),
  pairs(
    words('script svg img style x:y'),
    ['onload=alert(1)', 'src=javascript:alert(1)', '/onerror=alert`1`'],
    (tag, handler) => `<${tag} ${handler}>`,
  ),
  pairs(words('% %% %1$ %-'), words('s n d c'), (start, kind) => start + kind),
  words(`" ' \` \\ \\\\ \\" "" '' \\n \\u0041 \\ud800 \\x41 “curly” «guillemets» { } [ ] {} [] {"text":["x"]} "],"target_lang":"FR
    ","context":" , : // <!-- ]]> <b>bold</b> <x id="1"/> </text> &b; &amp; &#0; &#x110000; {"$gt":""} $ne %253Ca%253E &lt;a&gt;
    \\u003ca\\u003e +ADw-a+AD4- ＜a＞ =1+1 @SUM(1) *)(uid=* &a [*a] --- ... ~ >- | - # (a+)+$ \\1 rO0ABXNy O:8:"stdClass":0:{}`),
  words(`FLUSHALL redis.call("FLUSHALL") ")redis.call( {team} }{ %00 %2e%2e %c0%af % ../../etc/passwd ..\\..\\windows /dev/null CON NUL
    file:///etc/passwd http://169.254.169.254/ gopher://127.0.0.1:6379/ \${jndi:ldap://127.0.0.1/a} http://[::1]/ http://a@b@c/ //a
    ....// ..;/ ~root .git/config C:\\ jar:file:///a!/b chunked close 100-continue X:y --x data:,x =?UTF-8?B?YQ==?=`),
  ['*1\r\n$8\r\nFLUSHALL\r\n', 'return 1', 'KEYS *', '<![CDATA[x]]>', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>', '/* */'],
  ['\r\nSet-Cookie: a=b', '\r\n\r\nHTTP/1.1 200 OK\r\n', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', '0\r\n\r\n', 'a\r\n b', '\n.\n'],
  ['multipart/form-data; boundary=x', 'application/json; charset=utf-16', '{name, plural, one {# a} other {# b}}', '? a'],
  // In a log or a terminal.
  ['\n', '\r', '\r\n', '\u2028', '\u0085'].map((end) => `${end}{"level":"error","msg":"a bug"}`),
  ['[2J', '[31mred', '[6n', ']8;;http://a\u0007a', 'c', 'P1;2|a\u001b\\'].map((sequence) => `\u001b${sequence}`),
  words('","level":"fatal "}{" \\",\\"a\\":\\" ":null,"a": ]}],[{ "\\u0000" {"__proto__":{"a":1}} {"a":1,"a":2} [1,] {a:1} //a'),
].flat();

const LONG = [
  Array.from('a "\\\'<&%{[(/.,0é中😀').map((unit) => unit.repeat(Math.floor(300 / Buffer.byteLength(unit)))),
  ['[]', '{}', '""', '\r\n', '\u202e\u202c', 'e\u0301', '👍🏽', '\0', '\n'].map((unit) => unit.repeat(40)),
  ['a'.repeat(900)],
].flat();

/** All different; more than five hundred. */
export const NASTY_STRINGS: readonly string[] = [...new Set([MISTAKEN, UNICODE, PICTURES, INJECTED, LONG].flat())].filter(
  (nasty) => nasty !== '',
);
