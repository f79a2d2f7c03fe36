// Translates a document's texts in parts, as a request's: engines, glossaries, memory, batches.
import { Exchange, NO_CALLER } from '../../core/exchange.ts';
import type { Refusal } from '../../core/outcome.ts';
import { compileRoute } from '../../core/route.ts';
import { nextTurn, partsForTurns } from '../../core/turns.ts';
import { countCharacters } from '../../domain/characters.ts';
import { chargedCharacters, chargeSlot, keyOwnerSlot, NO_STATS, planSlot, requestStatsSlot } from '../../domain/slots.ts';
import { NOTHING_CHOSEN } from '../../domain/translation-options.ts';
import type { TranslationOptions } from '../../domain/translation-options.ts';
import type { DocumentText } from '../formats.ts';
import type { DocumentRecord } from '../../ports/documents.ts';
import type { GatewayServices } from '../../ports/gateway-services.ts';

interface TranslatedTexts {
  readonly kind: 'texts';
  readonly texts: readonly string[];
  /** Characters that are not charged. */
  readonly spared: number;
}

const ROUTE = compileRoute({ method: 'POST', path: '/v1/documents', takesBody: false, steps: [] });
/** More characters than a part has: what is missing at its end was spared. */
const COUNTED = 1_000_000_000;

/** A part of a document as a request of its key, which nobody waits for. */
export function partOf(document: DocumentRecord, plan: string, { id, nowMs }: { readonly id: string; readonly nowMs: number }): Exchange {
  const { keyId, teamId, traceparent, glossaryId, sourceLang = '', targetLang, glossaryByBase: byBase = false } = document;
  const headers: Record<string, string> = traceparent === undefined ? {} : { traceparent };
  const x = new Exchange(id, { method: 'POST', path: ROUTE.path, query: '', headers }, NO_CALLER, ROUTE, nowMs);
  x.set(keyOwnerSlot, { keyId, teamId, mode: 'live' });
  x.set(planSlot, plan);
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang, targetLang, byBase };
  x.set(chargeSlot, { characters: undefined, reserve: false, glossary, refusal: undefined });
  x.set(requestStatsSlot, { ...NO_STATS, characters: COUNTED, canSpare: true });
  return x;
}

/** As many as a request may have. */
const TEXTS_MAX = 50;
const PART_CHARACTERS = 8000;
const MARKUP = /(<[^>]*>)/;
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' };
const ESCAPES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' };

/** `nextPart` waits until the document may go on, and makes the request of the next part. */
export async function translateTexts(
  texts: readonly DocumentText[],
  { sourceLang, targetLang, formality, glossaryId }: DocumentRecord,
  { translate, refusalFor }: Pick<GatewayServices, 'translate' | 'refusalFor'>,
  nextPart: () => Promise<Exchange | Refusal>,
): Promise<TranslatedTexts | Refusal> {
  const plain: TranslationOptions = { ...NOTHING_CHOSEN, sourceLang, targetLang, formality };
  const xml: TranslationOptions = { ...plain, format: 'xml' };
  let x = await nextPart();
  if ('problem' in x) return x;
  const takesXml = refusalFor(x, xml, glossaryId !== undefined) === undefined;
  const pieces: (readonly Piece[])[] = [];
  const sent: readonly (readonly [TranslationOptions, Piece[]])[] = [
    [plain, []],
    [xml, []],
  ];
  await eachInTurn(texts, (text) => {
    const ofText = piecesOf(text, takesXml);
    pieces.push(ofText);
    for (const piece of ofText) if (!piece.isFixed) sent[piece.isXml ? 1 : 0]![1].push(piece);
  });
  let spared = 0;
  for (const [options, ofKind] of sent) {
    for (const part of partsOf(ofKind)) {
      x = await nextPart();
      if ('problem' in x) return x;
      const order = { text: part.map(({ text }) => text), options, glossaryId, charged: part.map(chargedFor) };
      const answer = await translate(x, order);
      if (answer.kind !== 'translated') return answer;
      for (const [i, piece] of part.entries()) piece.translation = answer.translations[i]!.text;
      spared += COUNTED - chargedCharacters(x);
    }
  }
  const done: string[] = [];
  await eachInTurn(texts, ({ format }, i) => void done.push(joined(pieces[i]!, format === 'xml')));
  return { kind: 'texts', texts: done, spared };
}

/** What a document is charged for, if nothing is spared: the text without its markup. */
export async function countTexts(texts: readonly DocumentText[]): Promise<number> {
  let sum = 0;
  await eachInTurn(texts, (text) => void (sum += countText(text)));
  return sum;
}

function countText(text: DocumentText): number {
  return piecesOf(text, false).reduce((all, piece) => all + (piece.isMarkup ? 0 : piece.characters), 0);
}

/** There may be 200,000: a turn of the event loop handles a few, or one that is long. */
async function eachInTurn(texts: readonly DocumentText[], handle: (text: DocumentText, index: number) => void): Promise<void> {
  let index = 0;
  for (const part of partsForTurns(texts, ({ text }) => text.length)) {
    if (index > 0) await nextTurn();
    for (const text of part) handle(text, index++);
  }
}

/** Of a piece: as it was counted, without its markup. */
function chargedFor({ text, characters, isXml }: Piece): number {
  return isXml ? countText({ text, format: 'xml' }) : characters;
}

/** A part of a text that is translated as a whole, or stays. */
interface Piece {
  readonly text: string;
  readonly characters: number;
  readonly isXml: boolean;
  /** Elements, and white space between them. */
  readonly isFixed: boolean;
  readonly isMarkup: boolean;
  translation: string | undefined;
}

/** For engines without markup, the runs between elements are translated one by one. */
function piecesOf({ text, format }: DocumentText, takesXml: boolean): readonly Piece[] {
  if (format === 'text' || takesXml) return [pieceOf(text, format === 'xml')];
  return text
    .split(MARKUP)
    .filter((run) => run !== '')
    .map((run) => {
      if (run.startsWith('<')) return { ...pieceOf(run, false), isFixed: true, isMarkup: true };
      const words = run.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity]!);
      return { ...pieceOf(words, false), isFixed: run.trim() === '' };
    });
}

function pieceOf(text: string, isXml: boolean): Piece {
  return { text, characters: countCharacters(text), isXml, isFixed: false, isMarkup: false, translation: undefined };
}

function joined(pieces: readonly Piece[], inXml: boolean): string {
  return pieces
    .map(({ text, translation, isXml, isMarkup }) => {
      const shown = translation ?? text;
      return inXml && !isXml && !isMarkup ? shown.replaceAll(/[<>&]/g, (sign) => ESCAPES[sign]!) : shown;
    })
    .join('');
}

/** What is sent together. */
function* partsOf(pieces: readonly Piece[]): Generator<readonly Piece[], void> {
  for (let from = 0, to = 0; from < pieces.length; from = to) {
    let { characters } = pieces[to++]!;
    while (to < pieces.length && to - from < TEXTS_MAX && characters + pieces[to]!.characters <= PART_CHARACTERS)
      characters += pieces[to++]!.characters;
    yield pieces.slice(from, to);
  }
}
