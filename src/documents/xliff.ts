// XLIFF 1.2 and 2: the source of a unit is the text, its target gets the translation; a target that
// says something else stays.
import { refuse } from './limits.ts';
import { labelPassage, Passages } from './passage.ts';
import type { Passage, SourceSpan } from './passage.ts';
import { addNodes, PassageBuilder } from './passage-builder.ts';
import type { ElementRole } from './passage-builder.ts';
import type { Source } from './source.ts';
import { elementsOf, escapeXml, innerText, scanXml } from './xml-scan.ts';
import type { XmlElement } from './xml-scan.ts';

/** Contain text that is translated; other inline elements stand for code. */
const PAIRS: ReadonlySet<string> = new Set(['g', 'mrk', 'pc', 'sm', 'em']);
/** Codes that begin or end something. */
const ORDERED: ReadonlySet<string> = new Set(['bpt', 'ept', 'bx', 'ex', 'sc', 'ec']);
/** An existing translation in these states is replaced. */
const UNTRANSLATED: ReadonlySet<string> = new Set(['new', 'needs-translation', 'initial']);

/** Elements that name the target language, beside that of the source. */
const LANGUAGES: ReadonlyMap<string, { readonly beside: string; readonly target: string }> = new Map([
  ['xliff', { beside: 'srcLang', target: 'trgLang' }],
  ['file', { beside: 'source-language', target: 'target-language' }],
]);

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

export function xliff(source: Source): readonly Passage[] {
  const { text } = source;
  const passages = new Passages();
  let first: string | undefined;
  /** Of the elements around: whether they are translated. */
  const translated: boolean[] = [true];
  scanXml(source, {
    isTree: ({ name }) => local(name) === 'trans-unit' || local(name) === 'segment',
    tree(unit) {
      const found = translated.at(-1)! ? passagesOf(unit, text) : [];
      passages.add(...found);
      if (found.length > 0 && unit.attributes.get('state') === 'initial')
        passages.add(attributeOf(unit, text, 'state', () => 'translated'));
    },
    open(element) {
      const name = local(element.name);
      first ??= name;
      const language = LANGUAGES.get(name);
      // Version 2 says it once for all files, 1.2 for each.
      if (language !== undefined && element.attributes.has(language.beside))
        passages.add(attributeOf(element, text, language.target, (code) => code));
      const said = element.attributes.get('translate');
      translated.push(said === undefined ? translated.at(-1)! : said !== 'no');
    },
    close: () => void translated.pop(),
  });
  if (first !== 'xliff') refuse('the file is no XLIFF: its first element is not xliff');
  return passages.all;
}

/** Of the element's start tag: its value, or a place for it if it is not there. */
function attributeOf({ open }: XmlElement, source: string, name: string, value: (language: string) => string): Passage {
  const tag = source.slice(open.from, open.to);
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"[^"]*"|'[^']*')`).exec(tag);
  const end = /\s*\/?>$/.exec(tag)!.index;
  const [from, to] = found === null ? [end, end] : [found.index, found.index + found[0].length];
  return labelPassage({ from: open.from + from, to: open.from + to }, (language) => ` ${name}="${value(language)}"`);
}

/** One for the unit, or one for each of its marked segments: they stay apart in the target. */
function passagesOf(unit: XmlElement, source: string): Passage[] {
  const [text, target, segmented] = ['source', 'target', 'seg-source'].map((name) =>
    elementsOf(unit).find((element) => local(element.name) === name),
  );
  if (text === undefined || innerText(text).trim() === '' || isTranslated(unit, text, target)) return [];
  const marked = segmented === undefined ? [] : elementsOf(segmented).filter(isSegment);
  const container = marked.length > 0 ? segmented! : text;
  const inner = (marked.length > 0 ? marked : [text]).flatMap(({ children }) => {
    const builder = new PassageBuilder(source, { write: escapeXml, collapses: false, needsLetters: false });
    addNodes(builder, children, roleOf);
    builder.flush();
    return builder.found.all;
  });
  const name = target?.rawName ?? text.rawName.replace(/source$/, 'target');
  const end = (segmented ?? text).close.to;
  const place = target === undefined ? { from: end, to: end } : { from: target.open.from, to: target.close.to };
  const opening = target === undefined ? `${spaceBefore(source, text.open.from)}<${name}>` : openingOf(target, source);
  const frame = { place, opening, from: container.open.to, to: container.close.from, closing: `</${name}>` };
  return inner.map((_passage, index) => inTarget(inner, index, frame));
}

/** A target as it is written, and what is around its texts in the source. */
interface TargetFrame extends SourceSpan {
  readonly place: SourceSpan;
  readonly opening: string;
  readonly closing: string;
}

/**
 * The first one replaces the target, and the others follow it, each with what is before it. Apart
 * from the unit, whose elements nobody needs any more.
 */
function inTarget(inner: readonly Passage[], index: number, { place, opening, from: start, to: end, closing }: TargetFrame): Passage {
  const { from, to, pieces, render } = inner[index]!;
  const [isFirst, isLast] = [index === 0, index === inner.length - 1];
  const lead = { from: isFirst ? start : inner[index - 1]!.to, to: from };
  return {
    from: isFirst ? place.from : place.to,
    to: place.to,
    pieces,
    always: true,
    render(given, raw, language) {
      const before = (isFirst ? opening : '') + raw(lead);
      const after = isLast ? raw({ from: to, to: end }) + closing : '';
      return before + render(given, raw, language) + after;
    },
  };
}

function isSegment({ name, attributes }: XmlElement): boolean {
  return local(name) === 'mrk' && attributes.get('mtype') === 'seg';
}

function spaceBefore(source: string, at: number): string {
  return /\s*$/.exec(source.slice(Math.max(0, at - 200), at))![0];
}

/** Of a target that is written anew: it is translated now. */
function openingOf(target: XmlElement, source: string): string {
  const opening = source.slice(target.open.from, target.open.to).replace(/\s*\/>$/, '>');
  return opening.replace(/(\sstate\s*=\s*["'])(?:new|needs-translation)(?=["'])/, '$1translated');
}

function isTranslated(unit: XmlElement, text: XmlElement, target: XmlElement | undefined): boolean {
  if (target === undefined) return false;
  const found = innerText(target).trim();
  const state = target.attributes.get('state') ?? unit.attributes.get('state');
  return found !== '' && found !== innerText(text).trim() && (state === undefined || !UNTRANSLATED.has(state));
}

function roleOf({ name, attributes }: XmlElement): ElementRole {
  if (PAIRS.has(local(name)) && attributes.get('translate') !== 'no') return 'around';
  return ORDERED.has(local(name)) ? 'ordered' : 'loose';
}
