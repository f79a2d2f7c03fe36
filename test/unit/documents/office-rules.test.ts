// Rules of office files: what people read in fields, in annotations, in descriptions of pictures, in diagrams and on masters is text.
import { unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { builtWith, textsOf } from '../../support/documents/formats-here.ts';
import { relations, smallWord as word, zipped } from '../../support/documents/office-samples.ts';
import { upperCase } from '../../support/documents/random-texts.ts';

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const MAIN = 'http://schemas.openxmlformats.org';
const P = `xmlns:p="${MAIN}/presentationml/2006/main" xmlns:a="${MAIN}/drawingml/2006/main" xmlns:r="${OFFICE}"`;

const run = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`;
const field = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;

const texts = (format: string, bytes: Uint8Array) => textsOf(format, bytes).map(({ text }) => text);
const partOf = (file: Uint8Array, part: string) => Buffer.from(unzipSync(file)[part]!).toString();
/** The part, with each text in capital letters. */
const built = (format: string, bytes: Uint8Array, part: string) =>
  partOf(builtWith(format, bytes, textsOf(format, bytes).map(upperCase)), part);

test.each<[string, string, readonly string[], string]>([
  [
    'the result of a form field',
    `<w:p>${field('begin')}<w:r><w:instrText> FORMTEXT </w:instrText></w:r>${field('separate')}${run('words')}${field('end')}</w:p>`,
    ['words'],
    '<w:t>WORDS</w:t>',
  ],
  [
    'a link that is a simple field',
    `<w:p>${run('a ')}<w:fldSimple w:instr=" HYPERLINK &quot;x&quot; ">${run('words')}</w:fldSimple></w:p>`,
    ['a <x1>words</x1>'],
    '<w:t>WORDS</w:t>',
  ],
  ['a page number', `<w:p>${run('page ')}<w:fldSimple w:instr=" PAGE ">${run('one')}</w:fldSimple></w:p>`, ['page'], '<w:t>one</w:t>'],
  [
    'what a ruby annotates, and not its pronunciation',
    `<w:p>${run('a ')}<w:r><w:ruby><w:rubyPr/><w:rt>${run('said')}</w:rt><w:rubyBase>${run('words')}</w:rubyBase></w:ruby></w:r>${run(' b')}</w:p>`,
    ['a <x1/> b', 'words'],
    `<w:rt>${run('said')}</w:rt><w:rubyBase>${run('WORDS')}</w:rubyBase>`,
  ],
  [
    'the description of a picture',
    `<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="a &quot;cat&quot;" title='one'/></wp:inline></w:drawing></w:r></w:p>`,
    ['a "cat"', 'one'],
    `<wp:docPr id="1" name="Picture 1" descr="A &quot;CAT&quot;" title='ONE'/>`,
  ],
  [
    'what a list offers',
    `<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="yes" w:value="yes"/></w:dropDownList></w:sdtPr><w:sdtContent><w:p>${run('no')}</w:p></w:sdtContent></w:sdt>`,
    ['yes', 'no'],
    '<w:listItem w:displayText="YES" w:value="yes"/>',
  ],
])('Word: %s', (_what, body, expected, written) => {
  expect(texts('docx', word(body))).toEqual(expected);
  expect(built('docx', word(body), 'word/document.xml')).toContain(written);
});

test('a diagram’s drawing repeats the texts of its data, which are texts once, and both are written', () => {
  const diagram = (...lines: readonly string[]): string =>
    `<x xmlns:a="${MAIN}/drawingml/2006/main">${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}</x>`;
  const bytes = word(`<w:p>${run('text')}</w:p>`, {
    'word/_rels/document.xml.rels': relations({ 'drawing1.xml': 'diagramDrawing', 'data1.xml': 'diagramData' }),
    'word/data1.xml': diagram('one', 'two'),
    'word/drawing1.xml': diagram('two', 'one', 'three'),
  });
  expect(texts('docx', bytes)).toEqual(['text', 'one', 'two', 'three']);
  expect(built('docx', bytes, 'word/drawing1.xml')).toBe(diagram('TWO', 'ONE', 'THREE'));
  expect(built('docx', bytes, 'word/data1.xml')).toBe(diagram('ONE', 'TWO'));
});

test('PowerPoint: layouts and masters have texts of their own, but for prompts of placeholders', () => {
  const box = (text: string, place = ''): string =>
    `<p:sp><p:nvSpPr><p:cNvPr id="2" name="Box"/><p:nvPr>${place}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const tree = (name: string, ...boxes: readonly string[]): string => `<p:${name} ${P}>${boxes.join('')}</p:${name}>`;
  const bytes = zipped({
    '_rels/.rels': relations({ 'ppt/presentation.xml': 'officeDocument' }),
    'ppt/presentation.xml': tree('presentation', '<p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst>'),
    'ppt/_rels/presentation.xml.rels': relations({ 'slide1.xml': 'slide' }),
    'ppt/slide1.xml': tree('sld', box('title', '<p:ph type="title"/>'), box('slide')),
    'ppt/_rels/slide1.xml.rels': relations({ 'layout1.xml': 'slideLayout' }),
    'ppt/layout1.xml': tree('sldLayout', box('prompt', '<p:ph type="title"/>'), box('layout')),
    'ppt/_rels/layout1.xml.rels': relations({ 'master1.xml': 'slideMaster' }),
    'ppt/master1.xml': tree('sldMaster', box('company'), box('prompt', '<p:ph/>')),
  });
  expect(texts('pptx', bytes)).toEqual(['title', 'slide', 'layout', 'company']);
  expect(built('pptx', bytes, 'ppt/master1.xml')).toBe(tree('sldMaster', box('COMPANY'), box('prompt', '<p:ph/>')));
});

test('OpenDocument: placeholders, and titles and descriptions of pictures', () => {
  const ODF = ['office', 'text', 'drawing', 'svg-compatible'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  );
  const content = (a: string, b: string, c: string, d: string): string =>
    `<office:document-content ${ODF.join(' ')}><office:body><office:text><text:p>${a}<text:placeholder>${b}</text:placeholder></text:p>` +
    `<text:p><drawing:frame><svg-compatible:title>${c}</svg-compatible:title><svg-compatible:desc>${d}</svg-compatible:desc></drawing:frame></text:p></office:text></office:body></office:document-content>`;
  const bytes = zipped({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': content('a ', 'b', 'c', 'd') });
  expect(texts('odt', bytes)).toEqual(['a <x1>b</x1>', 'c', 'd']);
  expect(built('odt', bytes, 'content.xml')).toBe(content('A ', 'B', 'C', 'D'));
});

describe('Excel', () => {
  const X = `xmlns="${MAIN}/spreadsheetml/2006/main" xmlns:r="${OFFICE}"`;
  const cell = (place: string, index: number): string => `<c r="${place}" t="s"><v>${index}</v></c>`;
  const inline = (place: string, text: string): string => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const sheet = (cells: string, more = ''): string => `<worksheet ${X}><sheetData><row r="2">${cells}</row></sheetData>${more}</worksheet>`;
  const strings = (...all: readonly string[]): string => `<sst ${X}>${all.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`;
  const book = (one: string, two: string): Uint8Array =>
    zipped({
      '_rels/.rels': relations({ 'xl/workbook.xml': 'officeDocument' }),
      'xl/workbook.xml': `<workbook ${X}><sheets><sheet name="A" r:id="rId1"/><sheet name="B" r:id="rId2"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations({ 'one.xml': 'worksheet', 'two.xml': 'worksheet', 'strings.xml': 'sharedStrings' }),
      'xl/one.xml': one,
      'xl/two.xml': two,
      'xl/_rels/one.xml.rels': relations({ 'table.xml': 'table' }),
      'xl/table.xml': `<table ${X} ref="B2:D9"><tableColumns><tableColumn name="Status"/><tableColumn name="Name"/></tableColumns></table>`,
      'xl/strings.xml': strings('Status', 'Name', 'Open'),
    });

  test('of cells that say the same, those that head a table stay', () => {
    const bytes = book(sheet(cell('B2', 0) + cell('C2', 1) + inline('D2', 'Size') + cell('E2', 2) + cell('F2', 0)), sheet(cell('A1', 0)));
    expect(texts('xlsx', bytes)).toEqual(['Open', 'Status']);
    const retained = inline('B2', 'Status') + cell('C2', 1) + inline('D2', 'Size') + cell('E2', 2) + cell('F2', 0);
    expect(built('xlsx', bytes, 'xl/one.xml')).toBe(sheet(retained));
    expect(built('xlsx', bytes, 'xl/strings.xml')).toBe(strings('STATUS', 'Name', 'OPEN'));
    expect(built('xlsx', bytes, 'xl/two.xml')).toBe(sheet(cell('A1', 0)));
  });

  test('page headers and what a sheet says to those who fill it in are texts', () => {
    const more = (a: string, b: string, c: string, d: string): string =>
      `<dataValidations><dataValidation promptTitle="${a}" prompt="b" sqref="A1"/></dataValidations>` +
      `<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"${b}&amp;C${c} &amp;amp;&amp;amp; d &amp;P</oddHeader><oddFooter>&amp;R&amp;D</oddFooter></headerFooter>`
        .replaceAll('&amp;amp;', '&amp;')
        .replace(' d ', ` ${d} `);
    const bytes = book(sheet('', more('a', 'left', 'c', 'd')), sheet(''));
    expect(texts('xlsx', bytes)).toEqual(['left', 'c & d', 'Status', 'Name', 'Open', 'a', 'b']);
    expect(built('xlsx', bytes, 'xl/one.xml')).toBe(sheet('', more('A', 'LEFT', 'C', 'D')).replace('prompt="b"', 'prompt="B"'));
  });

  test('a page header has no more than the 255 characters that Excel reads, and every code', () => {
    const header = (left: string, right: string): string =>
      `<headerFooter><oddHeader>&amp;L${left} &amp;P&amp;R${right}</oddHeader></headerFooter>`;
    const bytes = book(sheet('', header('left &amp;amp;&amp;amp; more'.replaceAll('&amp;amp;', '&amp;'), 'right')), sheet(''));
    const [left, ...others] = texts('xlsx', bytes);
    const result = builtWith('xlsx', bytes, [`${left!.slice(0, 3)}${'&😀 '.repeat(300)}`, 'x'.repeat(300), ...others.slice(1)]);
    const written = /<oddHeader>(.*)<\/oddHeader>/.exec(partOf(result, 'xl/one.xml'))![1]!;
    const shown = written.replaceAll('&amp;', '&');
    expect(shown).toMatch(/^&Llef(?:&&😀 )+(?:&&)?(?:😀)? &P&Rx+$/u);
    expect(shown.length).toBeLessThanOrEqual(255);
    expect(shown.length).toBeGreaterThan(240);
  });
});
