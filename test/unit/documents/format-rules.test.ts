// Rules of single formats: what is a text in it, what is not, and how a translation is written.
import { describe, expect, test } from 'vitest';
import { buildFile, extractTexts } from '../../../src/documents/read-and-build.ts';

async function texts(format: string, source: string): Promise<readonly string[]> {
  const found = await extractTexts(format, Buffer.from(source));
  if (found.kind === 'refused') throw new Error(found.reason);
  return found.texts.map(({ text }) => text);
}

async function built(format: string, source: string, ...translations: readonly string[]): Promise<string> {
  const result = await buildFile(format, Buffer.from(source), translations);
  if (result.kind === 'refused') throw new Error(result.reason);
  return Buffer.from(result.bytes).toString();
}

const XLIFF = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body><trans-unit id="1">';

describe('what is a text', () => {
  test.each([
    ['html', '<p translate="no">no</p><p>a <span class="notranslate">no</span> b</p>', ['a <x1/> b']],
    [
      'html',
      '<title>A</title><meta name="description" content="B"><meta name="x" content="no"><input placeholder="C" value="no">',
      ['A', 'B', 'C'],
    ],
    ['html', '<p><b>All of it</b></p><p><a href="x"><img src="y"></a> text</p>', ['All of it', 'text']],
    ['html', '<pre>a\n  b</pre><p>c\n  d</p>', ['a\n  b', 'c d']],
    ['html', '<p>12</p><p>…</p><p>&nbsp;</p><p>a<!-- no --></p>', ['a']],
    ['html', '<select><option>A<option>B</select><button>C</button>', ['A', 'B', 'C']],
    ['md', '# A #\n\nB\n=\n\nc  \nd\n\n* e\n\n        code\n\n> f\n', ['A', 'B', 'c<x1/>d', 'e', 'f']],
    ['md', '[a](b) text ![c](d) <http://e> `f` \\*g\\* h&amp;i', ['<x1>a</x1> text <x2>c</x2> <x3/> <x4/> *g* h&amp;i']],
    ['md', '[a] b [c][d] [e] g\n\n[e]: http://f\n\n[^1]: no\n', ['[a] b <x1>c</x1> <x2/> g']],
    ['txt', 'a\nb\n\n\n  c\n--\n', ['a\nb', 'c\n--']],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\n<font color="red">a</font> <3\n', ['<x1>a</x1> &lt;3']],
    ['vtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\n<00:01.500>a &lt;b&gt;\n', ['a <b>']],
    ['po', '#~ msgid "no"\nmsgid "a"\n"b"\nmsgstr[0] ""', ['ab']],
    [
      'po',
      'msgid "a %s"\nmsgstr ""\n\n#, no-c-format\nmsgid "b %s"\nmsgstr ""\n\n#, python-format\nmsgid "c %(d)s"\nmsgstr ""\n',
      ['a %s', 'b %s', 'c <x1/>'],
    ],
    [
      'xliff',
      `${XLIFF}<source>a</source><target>a</target></trans-unit><trans-unit id="2"><source>b</source><target>c</target></trans-unit></body></file></xliff>`,
      ['a'],
    ],
    ['json', '{"a": {"a": "a"}, "b": ["12", "", "c"], "d": null}', ['a', 'c']],
  ])('in %s: %s', async (format, source, expected) => {
    expect(await texts(format, source)).toEqual(expected);
  });

  test('a long text without paragraphs is cut at lines, sentences, words, in this order', async () => {
    const sentence = `${'word '.repeat(300)}end. `;
    const found = await texts('txt', sentence.repeat(8));
    expect(found.length).toBeGreaterThan(2);
    for (const text of found) expect(text).toMatch(/^word .*end\.$/s);
    expect(found.join(' ')).toBe(sentence.repeat(8).trim());
  });

  test('UTF-16 with a byte order mark is read and written as it is', async () => {
    const bytes = Buffer.from('\ufeff<p>a</p>', 'utf16le');
    expect(await extractTexts('html', bytes)).toEqual({ kind: 'extracted', texts: [{ text: 'a', format: 'text' }] });
    expect(await buildFile('html', bytes, ['ß'])).toEqual({ kind: 'built', bytes: Buffer.from('\ufeff<p>ß</p>', 'utf16le') });
  });
});

describe('how a translation is written', () => {
  test.each([
    ['html', '<p title="a">b</p>', ['"<&', 'c < d & e\u00a0f'], '<p title="&quot;&lt;&amp;">c &lt; d &amp; e&nbsp;f</p>'],
    ['md', 'a\n', ['# b *c* snake_case `d` 1 < 2'], '\\# b \\*c\\* snake_case \\`d\\` 1 \\< 2\n'],
    ['md', '| a |\n|---|\n| b |\n', ['c | d', '1. e'], '| c \\| d |\n|---|\n| 1\\. e |\n'],
    ['txt', 'a\r\n\r\nb\r\n', ['c\n\n\nd', 'e'], 'c\r\nd\r\n\r\ne\r\n'],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\na\n', ['b\n\nc --> d'], '1\n00:00:01,000 --> 00:00:02,000\nb\nc -> d\n'],
    ['vtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\na\n', ['b\n\nc --> <d>'], 'WEBVTT\n\n00:01.000 --> 00:02.000\nb\nc --&gt; &lt;d&gt;\n'],
    ['po', 'msgid "a"\nmsgstr ""\n', ['b "c"\\\nd'], 'msgid "a"\nmsgstr ""\n"b \\"c\\"\\\\\\n"\n"d"\n'],
    ['json', '{ "a" : "b" }', ['"\\\n\u2028'], `{ "a" : ${JSON.stringify('"\\\n\u2028')} }`],
    [
      'xliff',
      `${XLIFF}<source>a</source></trans-unit></body></file></xliff>`,
      ['b & \u0001'],
      `${XLIFF}<source>a</source><target>b &amp; </target></trans-unit></body></file></xliff>`,
    ],
  ])('in %s: %s', async (format, source, translations, expected) => {
    expect(await built(format, source, ...translations)).toBe(expected);
  });
});
