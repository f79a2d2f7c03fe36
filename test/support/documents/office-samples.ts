// Generated packages: docx, xlsx, pptx and odt with what their editors write.
import { zipSync } from 'fflate';
import type { Zippable } from 'fflate';
import { RandomTexts, escapeXml } from './random-texts.ts';
import type { SampleDocument } from './random-texts.ts';

/** Makes the part without formatting the longest: it is what the rest differs from. */
const MOST = 'and by far the most of the words, of which there are more than of all others in this one sentence together';
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const FORMATS = 'application/vnd.openxmlformats-officedocument.';

/** With one entry that is stored, and a picture that nobody reads. */
export function zipped(parts: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  const entries = Object.entries(parts).map(([name, content]): [string, Zippable[string]] => [
    name,
    [typeof content === 'string' ? Buffer.from(content) : content, { level: name === 'mimetype' ? 0 : 6, mtime: '2024-01-01T00:00:00' }],
  ]);
  return zipSync(Object.fromEntries(entries));
}

/** By target, with ids `rId1`, `rId2` and so on. */
export function relations(all: Readonly<Record<string, string>>): string {
  const rows = Object.entries(all).map(
    ([target, type], i) => `<Relationship Id="rId${i + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `${XML}<Relationships xmlns="${PACKAGE}/relationships">${rows.join('')}</Relationships>`;
}

/** A document of Word with no more than a program needs to read it. */
export function smallWord(body: string, more: Readonly<Record<string, string>> = {}): Uint8Array {
  return zipped({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': 'wordprocessingml.document.main' }),
    '_rels/.rels': relations({ 'word/document.xml': 'officeDocument' }),
    'word/document.xml': `${XML}<w:document ${W}><w:body>${body}</w:body></w:document>`,
    ...more,
  });
}

function contentTypes(parts: Readonly<Record<string, string>>): string {
  const rows = Object.entries(parts).map(([name, type]) => `<Override PartName="/${name}" ContentType="${FORMATS}${type}+xml"/>`);
  return (
    `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/><Default Extension="bin" ContentType="application/octet-stream"/>${rows.join('')}</Types>`
  );
}

const W = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${OFFICE}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml"`;

const wordRun = (text: string, properties = ''): string =>
  `<w:r>${properties === '' ? '' : `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r>`;

class WordSample {
  readonly texts: string[] = [];
  readonly random: RandomTexts;

  constructor(seed: number) {
    this.random = new RandomTexts(seed);
  }

  plain(properties = ''): string {
    const text = this.random.text();
    this.texts.push(text);
    const [first, ...rest] = text.split(' ');
    return `<w:p>${properties}${wordRun(`${first!} `)}<w:proofErr w:type="spellStart"/>${wordRun(rest.join(' '), '<w:lang w:val="de-DE"/>')}</w:p>`;
  }

  mixed(): string {
    const [a, b, c] = [this.random.text(), this.random.text(), this.random.text()];
    switch (this.random.number(5)) {
      case 0:
        this.texts.push(`${escapeXml(`${a} ${MOST}`)} <x1>${escapeXml(c)}</x1>`);
        return `<w:p>${wordRun(`${a} ${MOST} `)}${wordRun(c, '<w:b/>')}</w:p>`;
      case 1:
        this.texts.push(`${escapeXml(a)} <x1>${escapeXml(b)}</x1> ${escapeXml(c)}`);
        return `<w:p>${wordRun(`${a} `)}<w:hyperlink r:id="rId9">${wordRun(b, '<w:color w:val="0000FF"/>')}</w:hyperlink>${wordRun(` ${c}`)}</w:p>`;
      case 2:
        this.texts.push(`${escapeXml(a)}<x1/>${escapeXml(b)} <x2/>`.replace(/ <x2\/>$/, ''));
        return `<w:p><w:r><w:t>${escapeXml(a)}</w:t><w:tab/><w:t>${escapeXml(b)}</w:t></w:r><w:r><w:br/></w:r></w:p>`;
      case 3:
        this.texts.push(`${escapeXml(a)} <x1/><x2/><x3/><x4/><x5/> ${escapeXml(b)}`);
        return (
          `<w:p>${wordRun(`${a} `)}<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGE </w:instrText></w:r>` +
          `<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>seven</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>${wordRun(` ${b}`)}</w:p>`
        );
      default:
        this.texts.push(a);
        return `<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:rPr><w:rtl/></w:rPr><w:t>${escapeXml(a)}</w:t></w:r></w:p>`;
    }
  }

  table(depth: number): string {
    const cell = (): string =>
      `<w:tc><w:tcPr><w:tcW w:w="2000" w:type="dxa"/></w:tcPr>${depth > 0 && this.random.maybe() ? this.table(depth - 1) : ''}${this.plain()}</w:tc>`;
    const row = (): string => `<w:tr>${cell()}${cell()}</w:tr>`;
    return `<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid><w:gridCol w:w="2000"/><w:gridCol w:w="2000"/></w:tblGrid>${row()}${row()}</w:tbl>`;
  }

  textBox(): string {
    const text = this.random.text();
    this.texts.push(text);
    const content = `<w:txbxContent><w:p>${wordRun(text)}</w:p></w:txbxContent>`;
    return (
      `<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline><wp:extent cx="1000000" cy="500000"/><wp:docPr id="7" name="Box"/>` +
      `<a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr>` +
      `<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr><wps:txbx>${content}</wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice>` +
      `<mc:Fallback><w:pict><v:shape style="width:80pt;height:40pt"><v:textbox>${content}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`
    );
  }
}

export function wordSample(seed: number): SampleDocument {
  const sample = new WordSample(seed);
  const list = (level: number): string => `<w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr></w:pPr>`;
  const body: string[] = [
    sample.plain(),
    sample.mixed(),
    '<w:p/>',
    sample.plain(list(0)),
    sample.plain(list(1)),
    sample.table(1),
    sample.textBox(),
  ];
  for (let more = sample.random.number(6); more > 0; more--) body.push(sample.mixed());
  const noted = sample.random.text();
  sample.texts.push(`${escapeXml(noted)}<x1/>.`);
  body.push(
    `<w:p><w:commentRangeStart w:id="0"/>${wordRun(noted)}<w:r><w:footnoteReference w:id="2"/></w:r>${wordRun('.')}<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r></w:p>`,
  );
  const section = '<w:sectPr><w:headerReference w:type="default" r:id="rId1"/><w:footerReference w:type="default" r:id="rId2"/></w:sectPr>';
  const part = (name: string, content: string): string => `${XML}<w:${name} ${W}>${content}</w:${name}>`;
  const separators =
    '<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:type="continuationSeparator" w:id="1"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>';
  const document = part('document', `<w:body>${body.join('')}${section}</w:body>`);
  const footnotes = part('footnotes', `${separators}<w:footnote w:id="2">${sample.plain()}</w:footnote>`);
  const comments = part('comments', `<w:comment w:id="0" w:author="A" w:date="2024-01-01T00:00:00Z">${sample.plain()}</w:comment>`);
  const header = part('hdr', sample.plain());
  const footer = part('ftr', sample.plain());
  const bytes = zipped({
    '[Content_Types].xml': contentTypes({
      'word/document.xml': 'wordprocessingml.document.main',
      'word/header1.xml': 'wordprocessingml.header',
      'word/footer1.xml': 'wordprocessingml.footer',
      'word/footnotes.xml': 'wordprocessingml.footnotes',
      'word/comments.xml': 'wordprocessingml.comments',
    }),
    '_rels/.rels': relations({ 'word/document.xml': 'officeDocument' }),
    'word/document.xml': document,
    'word/_rels/document.xml.rels': relations({
      'header1.xml': 'header',
      'footer1.xml': 'footer',
      'footnotes.xml': 'footnotes',
      'comments.xml': 'comments',
    }).replace(
      '</Relationships>',
      `<Relationship Id="rId9" Type="${OFFICE}/hyperlink" Target="https://example.org/" TargetMode="External"/></Relationships>`,
    ),
    'word/header1.xml': header,
    'word/footer1.xml': footer,
    'word/footnotes.xml': footnotes,
    'word/comments.xml': comments,
    'word/media/data.bin': new Uint8Array(5000).map((_, index) => index % 251),
  });
  return { bytes, texts: sample.texts };
}

const X = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}"`;

/** Shared strings in another order than the cells show them, some shown twice, one never. */
export function sheetSample(seed: number): SampleDocument {
  const random = new RandomTexts(seed);
  const strings: string[] = [];
  const texts: string[] = [];
  const count = 4 + random.number(8);
  for (let index = 0; index < count; index++) {
    const [a, b] = [random.text(), random.text()];
    if (random.maybe()) {
      strings.push(`<si><t>${escapeXml(a)}</t><phoneticPr fontId="1"/></si>`);
      texts.push(a);
    } else {
      strings.push(`<si><r><t xml:space="preserve">${escapeXml(`${a} ${MOST} `)}</t></r><r><rPr><b/></rPr><t>${escapeXml(b)}</t></r></si>`);
      texts.push(`${escapeXml(`${a} ${MOST}`)} <x1>${escapeXml(b)}</x1>`);
    }
  }
  const header = random.text(true);
  strings.push(`<si><t>${header}</t></si>`, '<si><t>12.5</t></si>');
  const order = Array.from({ length: count - 1 }, (_, index) => index + 1).toReversed();
  const inline = random.text();
  const cell = (name: string, index: number): string => `<c r="${name}" t="s"><v>${index}</v></c>`;
  const rows = [
    `<row r="1">${cell('A1', count)}</row>`,
    ...order.map(
      (index, row) =>
        `<row r="${row + 2}">${cell(`A${row + 2}`, index)}<c r="B${row + 2}"><v>${row}</v></c>${cell(`C${row + 2}`, index)}</row>`,
    ),
    `<row r="90"><c r="A90" t="inlineStr"><is><t>${escapeXml(inline)}</t></is></c><c r="B90" t="str"><f>"no"&amp;"text"</f><v>notext</v></c>${cell('C90', count + 1)}</row>`,
  ];
  const comment = random.text();
  const bytes = zipped({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
      'xl/sharedStrings.xml': 'spreadsheetml.sharedStrings',
      'xl/comments1.xml': 'spreadsheetml.comments',
      'xl/tables/table1.xml': 'spreadsheetml.table',
    }),
    '_rels/.rels': relations({ '/xl/workbook.xml': 'officeDocument' }),
    'xl/workbook.xml': `${XML}<workbook ${X}><sheets><sheet name="First" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations({ 'worksheets/sheet1.xml': 'worksheet', 'sharedStrings.xml': 'sharedStrings' }),
    'xl/worksheets/sheet1.xml': `${XML}<worksheet ${X}><sheetData>${rows.join('')}</sheetData><tableParts count="1"><tablePart r:id="rId2"/></tableParts></worksheet>`,
    'xl/worksheets/_rels/sheet1.xml.rels': relations({ '../comments1.xml': 'comments', '../tables/table1.xml': 'table' }),
    'xl/sharedStrings.xml': `${XML}<sst ${X}>${strings.join('')}</sst>`,
    'xl/comments1.xml': `${XML}<comments ${X}><authors><author>A</author></authors><commentList><comment ref="A1" authorId="0"><text><t>${escapeXml(comment)}</t></text></comment></commentList></comments>`,
    'xl/tables/table1.xml': `${XML}<table ${X} id="1" name="T" displayName="T" ref="A1:A3"><tableColumns count="1"><tableColumn id="1" name="${header}"/></tableColumns></table>`,
  });
  return { bytes, texts: [...order.map((index) => texts[index]!), inline, comment, texts[0]!] };
}

const P = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${OFFICE}"`;
const TREE = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>';
const MASTER_BODY = `<p:cSld><p:spTree>${TREE}</p:spTree></p:cSld>`;

function shape(id: number, paragraphs: string): string {
  return (
    `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="Box ${id}"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="0" y="${id * 300000}"/>` +
    `<a:ext cx="4000000" cy="300000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr/><a:lstStyle/>${paragraphs}</p:txBody></p:sp>`
  );
}

const slideRun = (text: string, properties = '<a:rPr lang="en-US" dirty="0"/>'): string =>
  `<a:r>${properties}<a:t>${escapeXml(text)}</a:t></a:r>`;

export function slidesSample(seed: number): SampleDocument {
  const random = new RandomTexts(seed);
  const texts: string[] = [];
  const plain = (level = 0): string => {
    const text = random.text();
    texts.push(text);
    const [first, ...rest] = text.split(' ');
    return `<a:p><a:pPr lvl="${level}"/>${slideRun(`${first!} `)}${slideRun(rest.join(' '), '<a:rPr lang="de-DE"/>')}<a:endParaRPr lang="en-US"/></a:p>`;
  };
  const mixed = (): string => {
    const [a, b] = [random.text(), random.text()];
    texts.push(`${escapeXml(`${a} ${MOST}`)} <x1>${escapeXml(b)}</x1><x2/>${escapeXml(a)}`);
    return `<a:p>${slideRun(`${a} ${MOST} `)}${slideRun(b, '<a:rPr b="1"/>')}<a:br/>${slideRun(a)}<a:fld id="{1}" type="slidenum"><a:rPr/><a:t>page</a:t></a:fld></a:p>`;
  };
  const cell = (): string => `<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>${plain()}</a:txBody><a:tcPr/></a:tc>`;
  const table = (): string =>
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="Table"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="3000000"/><a:ext cx="4000000" cy="400000"/></p:xfrm>` +
    `<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr/><a:tblGrid><a:gridCol w="2000000"/><a:gridCol w="2000000"/></a:tblGrid>` +
    `<a:tr h="370840">${cell()}${cell()}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  const count = 1 + random.number(4);
  const slides: Record<string, string> = {};
  const types: Record<string, string> = {};
  const ids: string[] = [];
  // In the presentation's order, which is not that of the names.
  for (let number = count; number >= 1; number--) {
    const content = shape(2, plain() + plain(1) + mixed()) + table() + shape(3, mixed());
    const name = `ppt/slides/slide${number}.xml`;
    slides[name] = `${XML}<p:sld ${P}><p:cSld><p:spTree>${TREE}${content}</p:spTree></p:cSld></p:sld>`;
    slides[`ppt/slides/_rels/slide${number}.xml.rels`] = relations({
      '../slideLayouts/slideLayout1.xml': 'slideLayout',
      [`../notesSlides/notesSlide${number}.xml`]: 'notesSlide',
    });
    slides[`ppt/notesSlides/notesSlide${number}.xml`] =
      `${XML}<p:notes ${P}><p:cSld><p:spTree>${TREE}${shape(2, plain())}</p:spTree></p:cSld></p:notes>`;
    slides[`ppt/notesSlides/_rels/notesSlide${number}.xml.rels`] = relations({ [`../slides/slide${number}.xml`]: 'slide' });
    types[name] = 'presentationml.slide';
    types[`ppt/notesSlides/notesSlide${number}.xml`] = 'presentationml.notesSlide';
    ids.push(`<p:sldId id="${255 + number}" r:id="rId${number + 1}"/>`);
  }
  const slideRelations = Object.fromEntries(Array.from({ length: count }, (_, index) => [`slides/slide${index + 1}.xml`, 'slide']));
  const bytes = zipped({
    '[Content_Types].xml': contentTypes({
      'ppt/presentation.xml': 'presentationml.presentation.main',
      'ppt/slideMasters/slideMaster1.xml': 'presentationml.slideMaster',
      'ppt/slideLayouts/slideLayout1.xml': 'presentationml.slideLayout',
      ...types,
    }),
    '_rels/.rels': relations({ 'ppt/presentation.xml': 'officeDocument' }),
    'ppt/presentation.xml': `${XML}<p:presentation ${P}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst>${ids.join('')}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations({ 'slideMasters/slideMaster1.xml': 'slideMaster', ...slideRelations }),
    'ppt/slideMasters/slideMaster1.xml': `${XML}<p:sldMaster ${P}>${MASTER_BODY}<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`,
    'ppt/slideMasters/_rels/slideMaster1.xml.rels': relations({ '../slideLayouts/slideLayout1.xml': 'slideLayout' }),
    'ppt/slideLayouts/slideLayout1.xml': `${XML}<p:sldLayout ${P}>${MASTER_BODY}</p:sldLayout>`,
    'ppt/slideLayouts/_rels/slideLayout1.xml.rels': relations({ '../slideMasters/slideMaster1.xml': 'slideMaster' }),
    ...slides,
  });
  return { bytes, texts };
}

const ODF = ['office', 'text', 'table', 'style', 'drawing']
  .map((name) => `xmlns:${name === 'drawing' ? 'draw' : name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');
const ODF_MORE = `${ODF} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:officeooo="http://openoffice.org/2009/office" office:version="1.3"`;

export function openTextSample(seed: number): SampleDocument {
  const random = new RandomTexts(seed);
  const texts: string[] = [];
  const add = (text: string): string => {
    texts.push(text);
    return escapeXml(text);
  };
  const plain = (): string => `<text:p>${add(random.text())}</text:p>`;
  const mixed = (): string => {
    const [a = '', b = '', c = ''] = [random.text(), random.text(), random.text()].map(escapeXml);
    texts.push(`${a} <x1>${b}</x1><x2/>${c}<x3/>!`);
    const note = add(random.text());
    return (
      `<text:p><text:span text:style-name="T2">${a.slice(0, 4)}</text:span>${a.slice(4)} <text:span text:style-name="T1">${b}</text:span><text:line-break/>${c}` +
      `<text:note text:id="n${texts.length}" text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>${note}</text:p></text:note-body></text:note>!</text:p>`
    );
  };
  const list = (depth: number): string =>
    `<text:list><text:list-item>${plain()}${depth > 0 ? list(depth - 1) : ''}</text:list-item><text:list-item>${plain()}</text:list-item></text:list>`;
  const cell = (): string => `<table:table-cell>${plain()}</table:table-cell>`;
  const table = (): string =>
    `<table:table table:name="T${texts.length}"><table:table-column table:number-columns-repeated="2"/><table:table-row>${cell()}${cell()}</table:table-row></table:table>`;
  const body = [`<text:h text:outline-level="1">${add(random.text())}</text:h>`, mixed(), list(random.number(4)), table()];
  for (let more = random.number(6); more > 0; more--) body.push(random.maybe() ? mixed() : plain());
  const deleted =
    '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>A</dc:creator><dc:date>2024-01-01T00:00:00</dc:date></office:change-info><text:p>gone words</text:p></text:deletion></text:changed-region></text:tracked-changes>';
  const content = `<?xml version="1.0" encoding="UTF-8"?>\n<office:document-content ${ODF_MORE}><office:automatic-styles><style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style><style:style style:name="T2" style:family="text"><style:text-properties officeooo:rsid="0012ab"/></style:style></office:automatic-styles><office:body><office:text>${deleted}${body.join('')}</office:text></office:body></office:document-content>`;
  const styles = `<?xml version="1.0" encoding="UTF-8"?>\n<office:document-styles ${ODF_MORE}><office:automatic-styles><style:page-layout style:name="L1"><style:page-layout-properties/><style:header-style/></style:page-layout></office:automatic-styles><office:master-styles><style:master-page style:name="Standard" style:page-layout-name="L1"><style:header>${plain()}</style:header></style:master-page></office:master-styles></office:document-styles>`;
  const bytes = zipped({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': content,
    'styles.xml': styles,
    'META-INF/manifest.xml': `<?xml version="1.0" encoding="UTF-8"?>\n<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="styles.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
  });
  return { bytes, texts };
}
