// Rules of single formats: what is a text in it, what is not, and how a translation is written.
import { describe, expect, test } from 'vitest';
import { builtWith, textsOf } from '../../support/documents/formats-here.ts';

const texts = (format: string, source: string) => textsOf(format, Buffer.from(source)).map(({ text }) => text);
const built = (format: string, source: string, ...translations: readonly string[]) =>
  builtWith(format, Buffer.from(source), translations).toString();

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
    ['txt', 'a\nb\n\n\n  c\n--\n', ['a\nb', 'c\n--']],
    ['html', '<input type=button value="A"><input type=Reset value=B><input value="no"><input type=hidden value="no">', ['A', 'B']],
    ['html', '<select><optgroup label="A"><option label="B"></select><track label="C"><p label="no">D', ['A', 'B', 'C', 'D']],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\n \na\n', ['a']],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\na\n\nb\n7\n\n2\n00:00:03,000 --> 00:00:04,000\nc\n', ['a', 'b\n7', 'c']],
    ['vtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\n \na\n\nno\n', ['a']],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\n<font color="red">a</font> <3\n', ['<x1>a</x1> &lt;3']],
    ['vtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\n<00:01.500>a &lt;b&gt;\n', ['a <b>']],
    [
      'xliff',
      `${XLIFF}<source>a</source><target>a</target></trans-unit><trans-unit id="2"><source>b</source><target>c</target></trans-unit></body></file></xliff>`,
      ['a'],
    ],
  ])('in %s: %s', (format, source, expected) => {
    expect(texts(format, source)).toEqual(expected);
  });

  test('a long text without paragraphs is cut at lines, sentences, words, in this order', () => {
    const sentence = `${'word '.repeat(300)}end. `;
    const found = texts('txt', sentence.repeat(8));
    expect(found.length).toBeGreaterThan(2);
    for (const text of found) expect(text).toMatch(/^word .*end\. ?$/s);
    // What was cut is counted too.
    expect(found.join('')).toBe(sentence.repeat(8).trim());
  });

  test('UTF-16 with a byte order mark is read and written as it is', () => {
    const bytes = Buffer.from('\ufeff<p>a</p>', 'utf16le');
    expect(textsOf('html', bytes)).toEqual([{ text: 'a', format: 'text' }]);
    expect(builtWith('html', bytes, ['ß'])).toEqual(Buffer.from('\ufeff<p>ß</p>', 'utf16le'));
  });
});

describe('how a translation is written', () => {
  test.each([
    ['html', '<p title="a">b</p>', ['"<&', 'c < d & e\u00a0f'], '<p title="&quot;&lt;&amp;">c &lt; d &amp; e&nbsp;f</p>'],
    ['txt', 'a\nb\r\nc\nd\r\n', ['A\nB\nC\nD\nE'], 'A\nB\r\nC\nD\nE\r\n'],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\n \na\n\nb\n', ['A', 'B'], '1\n00:00:01,000 --> 00:00:02,000\n \nA\n\nB\n'],
    ['txt', 'a\r\n\r\nb\r\n', ['c\n\n\nd', 'e'], 'c\r\nd\r\n\r\ne\r\n'],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\na\n', ['b\n\nc --> d'], '1\n00:00:01,000 --> 00:00:02,000\nb\nc -> d\n'],
    ['vtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\na\n', ['b\n\nc --> <d>'], 'WEBVTT\n\n00:01.000 --> 00:02.000\nb\nc --&gt; &lt;d&gt;\n'],
    [
      'xliff',
      `${XLIFF}<source>a</source></trans-unit></body></file></xliff>`,
      ['b & \u0001'],
      `${XLIFF}<source>a</source><target>b &amp; </target></trans-unit></body></file></xliff>`,
    ],
  ])('in %s: %s', (format, source, translations, expected) => {
    expect(built(format, source, ...translations)).toBe(expected);
  });
});

test('an engine that drops the white space at which a long text was cut loses none of it', () => {
  const source = `${'word '.repeat(1_500)}end`;
  const found = texts('txt', source);
  expect(built('txt', source, ...found.map((text) => text.trim().toUpperCase()))).toBe(source.toUpperCase());
});

describe('the target language is named where the file names one', () => {
  const version1 = (unit: string, language = ''): string =>
    `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"${language}><body><trans-unit id="1">${unit}</trans-unit></body></file></xliff>`;
  const version2 = (segment: string, language = ''): string =>
    `<xliff version="2.0" srcLang="en"${language} xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f"><unit id="1">${segment}</unit></file></xliff>`;

  test.each([
    ['html', '<html lang="en"><p lang="fr">a', '<html lang="pt-BR"><p lang="fr">A'],
    ['html', '<html><p>a', '<html><p>A'],
    [
      'xliff',
      version1('<source>a</source><target state="needs-translation">b</target>', ' target-language="fr"'),
      version1('<source>a</source><target state="translated">A</target>', ' target-language="pt-BR"'),
    ],
    ['xliff', version1('<source>a</source>'), version1('<source>a</source><target>A</target>', ' target-language="pt-BR"')],
    [
      'xliff',
      version2('<segment state="initial"><source>a</source></segment>'),
      version2('<segment state="translated"><source>a</source><target>A</target></segment>'),
    ],
  ])('in %s: %s', (format, source, expected) => {
    const written = builtWith(format, Buffer.from(source), ['A'], 'PT-BR').toString();
    expect(written.replace(' trgLang="pt-BR"', '')).toBe(expected);
    expect(written.includes(' trgLang="pt-BR"')).toBe(source.includes('srcLang'));
  });
});

test('each marked segment of XLIFF 1.2 is a text of its own, and stays one in the target', () => {
  const segments = (a: string, b: string): string => `<mrk mtype="seg" mid="1">${a}</mrk> <mrk mtype="seg" mid="2">${b}</mrk>`;
  const unit = `${XLIFF}<source>A. B.</source><seg-source>${segments('A.', 'B.')}</seg-source>`;
  const end = '</trans-unit></body></file></xliff>';
  expect(texts('xliff', unit + end)).toEqual(['A.', 'B.']);
  const expected = `${unit}<target>${segments('C.', 'D.')}</target>${end}`;
  expect(built('xliff', unit + end, 'C.', 'D.')).toBe(expected);
  expect(built('xliff', `${unit}<target/>${end}`, 'C.', 'D.')).toBe(expected);
});
