// Files that somebody made to hurt whoever reads them, by kinds; and what their sender reads.
import { deflateRawSync } from 'node:zlib';
import { openTextSample, sheetSample, slidesSample, wordSample, zipped } from './office-samples.ts';
import { unzipSync } from 'fflate';
import type { RandomTexts } from './random-texts.ts';

interface HostileFile {
  readonly kind: string;
  readonly format: string;
  readonly bytes: Uint8Array;
  /** What its sender reads, or `undefined` if it is not refused: then reading it must end all the same. */
  readonly reason: RegExp | undefined;
}

type Parts = Record<string, string | Uint8Array>;

const MIB = 1_048_576;
const partsOf = (bytes: Uint8Array): Parts => unzipSync(bytes);

/** A document of Word with other parts, or more. */
function word(seed: number, more: Parts): Uint8Array {
  return zipped({ ...partsOf(wordSample(seed).bytes), ...more });
}

function body(content: string, before = ''): Parts {
  const open = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">';
  return { 'word/document.xml': `<?xml version="1.0"?>${before}${open}<w:body>${content}</w:body></w:document>` };
}

/** Changes numbers of the record of an entry in the directory, and of its local header where it has the same. */
function withRecord(bytes: Uint8Array, name: string, change: (archive: Buffer, record: number, header: number) => void): Uint8Array {
  const archive = Buffer.from(bytes);
  let at = archive.readUInt32LE(archive.length - 6);
  for (;;) {
    const found = archive.toString('latin1', at + 46, at + 46 + archive.readUInt16LE(at + 28));
    if (found === name) break;
    at += 46 + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  change(archive, at, archive.readUInt32LE(at + 42));
  return archive;
}

const MAIN = 'word/document.xml';
const MEDIA = 'word/media/data.bin';

function end(bytes: Uint8Array, change: (archive: Buffer, at: number) => void): Uint8Array {
  const archive = Buffer.from(bytes);
  change(archive, archive.length - 22);
  return archive;
}

/** An entry that inflates to more than the directory says. */
function lying(bytes: Uint8Array, name: string): Uint8Array {
  return withRecord(bytes, name, (archive, record) => archive.writeUInt32LE(1000, record + 24));
}

function renamed(bytes: Uint8Array, from: string, to: string): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll(from, to), 'latin1');
}

/** 2,001 entries without content. */
function crowded(): Uint8Array {
  return zipped(Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`word/${index}`, ''])));
}

/** Parts that refer to each other for ever. */
function looped(seed: number): Uint8Array {
  const rels = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">';
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const loop = `${rels}<Relationship Id="rId1" Type="${type}/slide" Target="slide1.xml"/><Relationship Id="rId2" Type="${type}/notesSlide" Target="slide1.xml"/></Relationships>`;
  return zipped({ ...partsOf(slidesSample(seed).bytes), 'ppt/slides/_rels/slide1.xml.rels': loop });
}

function manySheets(seed: number): Uint8Array {
  const parts = partsOf(sheetSample(seed).bytes);
  const sheets = Array.from({ length: 10_000 }, (_, index) => `<sheet name="S${index}" sheetId="${index + 1}" r:id="rId1"/>`).join('');
  const main = Buffer.from(parts['xl/workbook.xml'] as Uint8Array).toString();
  return zipped({ ...parts, 'xl/workbook.xml': main.replace(/<sheets>.*<\/sheets>/, `<sheets>${sheets}</sheets>`) });
}

/** The whole archive within an entry of itself, compressed once more, does no harm: nobody opens it. */
function nested(seed: number): Uint8Array {
  return word(seed, { 'word/embeddings/a.docx': wordSample(seed).bytes, 'word/embeddings/bomb.zip': deflateRawSync(Buffer.alloc(MIB)) });
}

const ENTITIES = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${'bcdefghij'
  .split('')
  .map((name, index) => `<!ENTITY ${name} "${`&${'abcdefghij'[index]!};`.repeat(10)}">`)
  .join('')}]>`;
const EXTERNAL = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>';
const PARAGRAPH = '<w:p><w:r><w:t>&j;</w:t></w:r></w:p>';
const UNIT = '<file><body><trans-unit id="1"><source>a</source></trans-unit></body></file>';

type Make = (seed: number) => Uint8Array | string;
type Row = readonly [kind: string, format: string, make: Make, reason: RegExp | undefined];

/** Of a document of Word, with other parts or more. */
const wordWith =
  (more: Parts): Make =>
  (seed) =>
    word(seed, more);
/** The same, whose directory says something else of an entry. */
const record =
  (name: string, change: Parameters<typeof withRecord>[2]): Make =>
  (seed) =>
    withRecord(wordSample(seed).bytes, name, change);
/** Or something else of the archive. */
const ending =
  (change: Parameters<typeof end>[1]): Make =>
  (seed) =>
    end(wordSample(seed).bytes, change);

const HOSTILE: readonly Row[] = [
  [
    'a part of zeros, a thousand times as long unpacked',
    'docx',
    (seed) => word(seed, { [MAIN]: Buffer.alloc((4 + (seed % 8)) * MIB) }),
    /less than a hundredth/,
  ],
  ['a picture of zeros', 'docx', (seed) => word(seed, { [MEDIA]: Buffer.alloc((4 + (seed % 8)) * MIB) }), /less than a hundredth/],
  [
    'a part that is longer than it claims',
    'docx',
    (seed) => lying(word(seed, body(' '.repeat(3 * MIB))), MAIN),
    /longer than the archive says/,
  ],
  [
    'a picture that is longer than it claims',
    'docx',
    (seed) => lying(word(seed, { [MEDIA]: Buffer.alloc(20 * MIB) }), MEDIA),
    /longer than the archive says/,
  ],
  ['an entry that claims 4 GiB', 'docx', record(MAIN, (archive, at) => archive.writeUInt32LE(0xffffffff, at + 24)), /more than 4 GiB/],
  [
    'an entry that claims nearly 4 GiB',
    'docx',
    record(MEDIA, (archive, at) => archive.writeUInt32LE(0xfffffffe, at + 24)),
    /longer than 32 MiB/,
  ],
  ['entries that claim 150 MiB together', 'docx', (seed) => claims(seed), /longer than 128 MiB/],
  ['2,001 entries', 'docx', crowded, /more than 2,000 entries/],
  [
    'two entries with one name',
    'docx',
    (seed) => renamed(word(seed, { 'word/aaa.xml': '<a/>', 'word/bbb.xml': '<b/>' }), 'bbb', 'aaa'),
    /two entries/,
  ],
  ['two names that differ in case only', 'docx', wordWith({ 'Word/Document.XML': '<a/>' }), /two entries/],
  ['a path that leads out', 'docx', wordWith({ '../../evil.sh': 'a' }), /leads out/],
  ['an absolute path', 'docx', wordWith({ '/etc/cron.d/evil': 'a' }), /leads out/],
  ['a path with a drive', 'docx', wordWith({ 'C:/evil.bat': 'a' }), /leads out/],
  ['a path with backslashes', 'docx', wordWith({ 'word\\..\\evil': 'a' }), /a backslash in its name/],
  ['a name with a zero byte', 'docx', wordWith({ 'word/a\u0000.xml': 'a' }), /cannot be right/],
  ['a link', 'docx', record(MEDIA, (archive, at) => archive.writeUInt32LE(0xa1ff0000, at + 38)), /is a link/],
  ['an encrypted entry', 'docx', record(MAIN, (archive, at) => archive.writeUInt16LE(1, at + 8)), /encrypted/],
  [
    'an entry that is encrypted only where it begins',
    'docx',
    record(MAIN, (archive, _at, header) => archive.writeUInt16LE(1, header + 6)),
    /two different ways/,
  ],
  ['an unknown compression', 'docx', record(MAIN, (archive, at) => archive.writeUInt16LE(12, at + 10)), /unusual way/],
  [
    'entries that share bytes',
    'docx',
    record(MEDIA, (archive, at) => archive.writeUInt32LE(archive.readUInt32LE(at + 20) + 5000, at + 20)),
    /share|beyond|two different/,
  ],
  ['an entry that is elsewhere', 'docx', record(MEDIA, (archive, at) => archive.writeUInt32LE(7, at + 42)), /not where/],
  ['a false sum', 'docx', record(MEDIA, (archive, at) => archive.writeUInt32LE(7, at + 16)), /damaged/],
  [
    'a directory that is elsewhere',
    'docx',
    (seed) => end(wordSample(seed).bytes, (archive, at) => archive.writeUInt32LE(seed, at + 16)),
    /not where it should be/,
  ],
  ['one part of several archives', 'docx', ending((archive, at) => archive.writeUInt16LE(1, at + 4)), /one part of several/],
  ['a Zip64 archive', 'docx', ending((archive, at) => archive.writeUInt16LE(0xffff, at + 10)), /Zip64|several/],
  ['bytes behind the end', 'docx', (seed) => Buffer.concat([wordSample(seed).bytes, Buffer.from('more')]), /end is missing/],
  ['half an archive', 'docx', (seed) => wordSample(seed).bytes.subarray(0, 1000 + seed * 10), /end is missing/],
  ['macros', 'docx', wordWith({ 'word/vbaProject.bin': 'a' }), /macros/],
  ['old macros', 'xlsx', (seed) => zipped({ ...partsOf(sheetSample(seed).bytes), 'xl/macrosheets/sheet1.xml': '<a/>' }), /macros/],
  [
    'macros of OpenDocument',
    'odt',
    (seed) => zipped({ ...partsOf(openTextSample(seed).bytes), 'Basic/Standard/Module1.xml': '<a/>' }),
    /macros/,
  ],
  ['entities that multiply', 'docx', wordWith(body(PARAGRAPH, ENTITIES)), /document type declaration/],
  ['an external entity', 'docx', wordWith(body('<w:p><w:r><w:t>&a;</w:t></w:r></w:p>', EXTERNAL)), /document type declaration/],
  [
    'an external entity in XLIFF',
    'xliff',
    () => `<?xml version="1.0"?>${EXTERNAL}<xliff version="1.2">${UNIT}</xliff>`,
    /document type declaration/,
  ],
  ['an entity that nobody declared', 'docx', wordWith(body(PARAGRAPH)), /not well-formed/],
  ['elements nested 300 deep', 'docx', wordWith(body('<w:sdt>'.repeat(300) + '</w:sdt>'.repeat(300))), /more than 256 levels/],
  ['elements nested a million deep', 'xliff', () => '<a>'.repeat(MIB), /more than 256 levels/],
  [
    '100,000 attributes',
    'docx',
    wordWith(body(`<w:p ${Array.from({ length: 100_000 }, (_, index) => `a${index}=""`).join(' ')}/>`)),
    /more than 1,000 attributes/,
  ],
  ['XML that ends in the middle', 'docx', wordWith({ [MAIN]: '<w:document xmlns:w="a"><w:body>' }), /not well-formed/],
  ['a part without its main part', 'docx', wordWith({ '_rels/.rels': '<a/>' }), /which of its parts/],
  ['a main part of bytes that are no text', 'docx', wordWith({ [MAIN]: Buffer.from([0x3c, 0xe9, 0xff, 0x3e]) }), /not encoded in UTF-8/],
  ['an encoding that hides markup', 'docx', wordWith({ [MAIN]: '<?xml version="1.0" encoding="UTF-7"?><a/>' }), /save it as UTF-8/],
  ['parts in a circle', 'pptx', looped, undefined],
  ['10,000 sheets', 'xlsx', manySheets, /more than 1,000 sheets/],
  ['archives within the archive', 'docx', nested, undefined],
  ['another kind of archive', 'docx', (seed) => sheetSample(seed).bytes, /not a docx file/],
  ['an encrypted OpenDocument', 'odt', (seed) => encrypted(seed), /encrypted/],
  [
    'a spreadsheet of OpenDocument',
    'odt',
    (seed) => zipped({ ...partsOf(openTextSample(seed).bytes), mimetype: 'application/vnd.oasis.opendocument.spreadsheet' }),
    /no OpenDocument text/,
  ],
  ['a program', 'docx', () => 'MZ\u0090\u0000', /no zip archive/],
  ['a PDF', 'txt', () => '%PDF-1.7', /PDF/],
  ['an archive as a text', 'txt', (seed) => wordSample(seed).bytes, /zip archive/],
  ['a zero byte', 'html', () => 'a\u0000b', /zero byte/],
  ['an old encoding', 'txt', () => Buffer.from('Stra\u00dfe', 'latin1'), /not encoded in UTF-8/],
  ['an old encoding that is declared', 'html', () => '<meta charset="iso-8859-1"><p>a', /save it as UTF-8/],
  ['nothing', 'txt', () => '', /empty/],
  ['31 MiB', 'txt', () => Buffer.alloc(31 * MIB, 'a'), /more than 30 MiB/],
  ['a million elements within each other', 'html', () => '<b>'.repeat(MIB) + 'text', /more than 5,000 changes/],
  ['a million unfinished tags', 'html', () => '<a '.repeat(MIB), undefined],
  ['a text with 6,000 changes of formatting', 'html', () => `<p>${'<b>a</b>b'.repeat(6_000)}`, /more than 5,000 changes/],
  ['200,001 texts', 'txt', () => 'a\n\n'.repeat(200_001), /more than 200,000 texts/],
  ['no subtitles', 'srt', () => 'Hello', /times of a subtitle/],
  ['no WebVTT', 'vtt', () => '1\n00:01.000 --> 00:02.000\na', /does not begin with WEBVTT/],
  ['no XLIFF', 'xliff', () => '<tmx/>', /no XLIFF/],
];

/** Each kind in order, with other seeds, until there are `count`. */
export function hostileFiles(count: number, from = 1): HostileFile[] {
  return Array.from({ length: count }, (_, index) => {
    const [kind, format, make, reason] = HOSTILE[index % HOSTILE.length]!;
    const made = make(from + Math.floor(index / HOSTILE.length));
    return { kind, format, bytes: typeof made === 'string' ? Buffer.from(made) : made, reason };
  });
}

/** A whole file of which some bytes are others: it may be refused or not. */
export function broken(bytes: Uint8Array, random: RandomTexts): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let more = 1 + random.number(5); more > 0; more--) copy[random.number(copy.length)] = random.number(256);
  return random.maybe() ? copy : copy.subarray(0, random.number(copy.length));
}

function claims(seed: number): Uint8Array {
  let bytes = word(seed, Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`word/media/${index}.bin`, 'a'])));
  for (let index = 0; index < 5; index++) {
    bytes = withRecord(bytes, `word/media/${index}.bin`, (archive, at) => {
      archive.writeUInt32LE(MIB, at + 20);
      archive.writeUInt32LE(30 * MIB, at + 24);
    });
  }
  return bytes;
}

function encrypted(seed: number): Uint8Array {
  const parts = partsOf(openTextSample(seed).bytes);
  const manifest = Buffer.from(parts['META-INF/manifest.xml'] as Uint8Array).toString();
  const entry = '<manifest:file-entry manifest:full-path="a"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>';
  return zipped({ ...parts, 'META-INF/manifest.xml': manifest.replace('</manifest:manifest>', entry) });
}
