// Translates a document's texts in parts, as a request's: engines, glossaries, memory, batches.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { nextTurn } from '../core/turns.ts';
import { countCharacters } from '../domain/characters.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { TranslationOptions } from '../domain/translation-options.ts';
import type { DocumentText } from '../ports/document-formats.ts';
import type { DocumentRecord } from '../ports/documents.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';

export interface DocumentTextsOptions {
  readonly services: Pick<GatewayServices, 'translate' | 'refusalFor'>;
  /** A fresh exchange for each part, on behalf of the document's key. */
  readonly exchange: () => Exchange;
  /** What the part's plugins have spared. */
  readonly sparedBy: (x: Exchange) => number;
  /** Waits as long as other work goes first. A refusal ends the document's work. */
  readonly turn: () => Promise<Refusal | undefined>;
  /** No more exchanges are made. */
  readonly ended: () => void;
}

interface TranslatedTexts {
  readonly kind: 'texts';
  readonly texts: readonly string[];
  /** Characters that are not charged. */
  readonly spared: number;
}

/** As many as a request may have. */
const TEXTS_MAX = 50;
const PART_CHARACTERS = 8000;
/** In one turn, about a millisecond: UTF-16 units, of which each text counts for some more. */
const TURN_UNITS = 50_000;
const TEXT_UNITS = 20;
const MARKUP = /(<[^>]*>)/;
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' };
const ESCAPES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' };

export async function translateTexts(
  texts: readonly DocumentText[],
  document: DocumentRecord,
  options: DocumentTextsOptions,
): Promise<TranslatedTexts | Refusal> {
  try {
    return await translated(texts, document, options);
  } finally {
    options.ended();
  }
}

async function translated(
  texts: readonly DocumentText[],
  document: DocumentRecord,
  options: DocumentTextsOptions,
): Promise<TranslatedTexts | Refusal> {
  const { sourceLang, targetLang, formality } = document;
  const plain: TranslationOptions = { ...NOTHING_CHOSEN, sourceLang, targetLang, formality };
  const xml: TranslationOptions = { ...plain, format: 'xml' };
  const takesXml = options.services.refusalFor(options.exchange(), xml, document.glossaryId !== undefined) === undefined;
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
  for (const [chosen, ofKind] of sent) {
    for (const part of partsOf(ofKind)) {
      const refusal = await options.turn();
      if (refusal !== undefined) return refusal;
      const x = options.exchange();
      const order = {
        text: part.map(({ text }) => text),
        options: chosen,
        glossaryId: document.glossaryId,
        charged: part.map(chargedFor),
      };
      const answer = await options.services.translate(x, order);
      if (answer.kind !== 'translated') return answer;
      for (const [i, piece] of part.entries()) piece.translation = answer.translations[i]!.text;
      spared += options.sparedBy(x);
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
  let units = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    const more = text.text.length + TEXT_UNITS;
    if (units > 0 && units + more > TURN_UNITS) {
      await nextTurn();
      units = 0;
    }
    units += more;
    handle(text, i);
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
function partsOf(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const parts: Piece[][] = [];
  let characters = 0;
  for (const piece of pieces) {
    characters += piece.characters;
    const last = parts.at(-1);
    if (last !== undefined && last.length < TEXTS_MAX && characters <= PART_CHARACTERS) {
      last.push(piece);
      continue;
    }
    parts.push([piece]);
    characters = piece.characters;
  }
  return parts;
}
