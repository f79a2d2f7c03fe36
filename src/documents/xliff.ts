// XLIFF 1.2 and 2: the source of a unit is the text, its target gets the translation; a target that says something else is kept.
import { NO_COPIES, limitTexts } from './passage.ts';
import type { Passage, PassageSource, SourceSpan } from './passage.ts';
import { PassageBuilder } from './passage-builder.ts';
import { refuse } from './refused-file.ts';
import type { SourceText } from './source-text.ts';
import { escapeXml, innerText, scanTrees } from './xml-scan.ts';
import type { XmlElement, XmlNode } from './xml-scan.ts';

/** Contain text that is translated; any other inline element stands for code, and has its own content. */
const PAIRS: ReadonlySet<string> = new Set(['g', 'mrk', 'pc', 'sm', 'em']);
/** An existing translation in these states is replaced. */
const UNTRANSLATED: ReadonlySet<string> = new Set(['new', 'needs-translation', 'initial']);

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

export function xliff(given: SourceText): PassageSource {
  const passages: Passage[] = [];
  let isXliff = false;
  /** Of the elements around: whether they are translated. */
  const translated: boolean[] = [true];
  const isUnit = ({ name }: XmlElement): boolean => local(name) === 'trans-unit' || local(name) === 'segment';
  scanTrees(
    given,
    'the file',
    isUnit,
    (unit) => {
      if (translated.at(-1)! && unit.attributes.get('translate') !== 'no') {
        const passage = passageOf(unit, given.text);
        if (passage !== undefined) passages.push(passage);
        limitTexts(passages.length);
      }
    },
    {
      open(element, depth) {
        if (depth === 0) isXliff = local(element.name) === 'xliff';
        if (isUnit(element)) return;
        const said = element.attributes.get('translate');
        translated.push(said === undefined ? translated.at(-1)! : said !== 'no');
      },
      close(element) {
        if (!isUnit(element)) translated.pop();
      },
    },
  );
  if (!isXliff) refuse('the file is no XLIFF: its first element is not xliff');
  return { source: given.text, passages, copies: NO_COPIES };
}

function passageOf(unit: XmlElement, source: string): Passage | undefined {
  const child = (name: string): XmlElement | undefined =>
    unit.children.find((node): node is XmlElement => node.kind === 'element' && local(node.name) === name);
  const text = child('source');
  const target = child('target');
  if (text === undefined || innerText(text).trim() === '' || isKept(unit, text, target)) return undefined;
  const builder = new PassageBuilder(source, { write: escapeXml, collapses: false, needsLetters: false });
  for (const node of text.children) addNode(builder, node);
  builder.flush();
  const [inner] = builder.passages;
  if (inner === undefined) return undefined;
  const [lead, trail] = [
    { from: text.open.to, to: inner.from },
    { from: inner.to, to: text.close.from },
  ];
  const content: Passage['render'] = (pieces, raw) => raw(lead) + inner.render(pieces, raw) + raw(trail);
  if (target !== undefined && target.close.to > target.close.from) {
    return { from: target.open.to, to: target.close.from, pieces: inner.pieces, always: true, render: content };
  }
  const name = text.rawName.replace(/source$/, 'target');
  if (target !== undefined) {
    const opened = source.slice(target.open.from, target.open.to).replace(/\s*\/>$/, '>');
    return { ...target.open, pieces: inner.pieces, always: true, render: (...all) => `${opened}${content(...all)}</${name}>` };
  }
  const end = (child('seg-source') ?? text).close.to;
  const space = /\s*$/.exec(source.slice(Math.max(0, text.open.from - 200), text.open.from))![0];
  return { from: end, to: end, pieces: inner.pieces, always: true, render: (...all) => `${space}<${name}>${content(...all)}</${name}>` };
}

function isKept(unit: XmlElement, text: XmlElement, target: XmlElement | undefined): boolean {
  if (target === undefined) return false;
  const found = innerText(target).trim();
  const state = target.attributes.get('state') ?? unit.attributes.get('state');
  return found !== '' && found !== innerText(text).trim() && (state === undefined || !UNTRANSLATED.has(state));
}

function addNode(builder: PassageBuilder, node: XmlNode): void {
  if (node.kind === 'text') {
    builder.text(node.text, node);
    return;
  }
  const whole: SourceSpan = { from: node.open.from, to: node.close.to };
  if (node.close.from === node.close.to || !PAIRS.has(local(node.name)) || node.attributes.get('translate') === 'no') {
    builder.empty(whole, ['bpt', 'ept', 'bx', 'ex', 'sc', 'ec'].includes(local(node.name)));
    return;
  }
  builder.open(node.name, node.open);
  for (const child of node.children) addNode(builder, child);
  builder.close(node.name, node.close);
}
