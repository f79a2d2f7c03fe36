// The texts of a request: checked, sent to the engine in pieces if there are more than `/v1`
// accepts (all or none), and put back in order.
import { countCharacters } from 'lingate';
import type { Charge, Detected, Exchange, GatewayServices, GlossaryReference, Refusal, Translated, TranslationOrder } from 'lingate';
import type { Judged } from './parameters.ts';

/** The texts of a request. */
export interface Texts {
  /** As sent. */
  readonly entries: readonly string[];
  /** The non-empty ones: only these go to the engine. */
  readonly text: readonly string[];
  /** Of all of them. */
  readonly characters: number;
}

/** Before any is read. */
export const NO_TEXTS: Texts = { entries: [], text: [], characters: 0 };

/** The API's refusals of texts. */
interface TextFaults {
  readonly notText: (index: number) => Refusal;
  /** A lone surrogate is not a character. */
  readonly half: (index: number) => Refusal;
  /** Empty texts are answered without the engine; `undefined` if all of them may be empty. */
  readonly none: Refusal | undefined;
}

export function judgeTexts(entries: readonly unknown[], { notText, half, none }: TextFaults): Judged<Texts> {
  let characters = 0;
  for (const [index, entry] of entries.entries()) {
    if (typeof entry !== 'string') return notText(index);
    if (!entry.isWellFormed()) return half(index);
    characters += countCharacters(entry);
  }
  const all = entries as readonly string[];
  const text = all.filter((entry) => entry !== '');
  return text.length === 0 && none !== undefined ? none : { entries: all, text, characters };
}

/** Maps each text to the result for it: empty ones have none. */
export function inOrder<Found, Result>(
  entries: readonly string[],
  found: readonly Found[],
  resultOf: (one: Found | undefined, entry: string, index: number) => Result,
): readonly Result[] {
  let next = 0;
  return entries.map((entry, index) => resultOf(entry === '' ? undefined : found[next++], entry, index));
}

/** As many as in a request to `/v1`: every engine accepts these. */
export const PIECE_TEXTS = 50;

type Translator = Pick<GatewayServices, 'translate'>;
type Detector = Pick<GatewayServices, 'detect'>;

/**
 * At the same time: one after the other they could outlast a reservation. Without texts the engine
 * is not called.
 */
export async function translateAll(services: Translator, x: Exchange, order: TranslationOrder): Promise<Translated | Refusal> {
  if (order.text.length === 0) return { kind: 'translated', translations: [] };
  if (order.text.length <= PIECE_TEXTS) return services.translate(x, order);
  const charged = order.charged === undefined ? undefined : piecesOf(order.charged);
  const pieces = await allOrRefusal(
    piecesOf(order.text).map((text, i) => services.translate(x, { ...order, text, charged: charged?.[i] })),
  );
  return 'problem' in pieces ? pieces : { kind: 'translated', translations: pieces.flatMap(({ translations }) => translations) };
}

export async function detectAll(services: Detector, x: Exchange, texts: readonly string[]): Promise<Detected | Refusal> {
  if (texts.length <= PIECE_TEXTS) return services.detect(x, texts);
  const pieces = await allOrRefusal(piecesOf(texts).map((piece) => services.detect(x, piece)));
  return 'problem' in pieces ? pieces : { kind: 'detected', languages: pieces.flatMap(({ languages }) => languages) };
}

/**
 * The first refusal is the answer, when all have ended: a request must not be answered while the
 * engine is still working on it.
 */
export async function allOrRefusal<Done extends object>(works: readonly Promise<Done | Refusal>[]): Promise<readonly Done[] | Refusal> {
  await Promise.allSettled(works);
  const all = await Promise.all(works);
  return all.find((one): one is Refusal => 'problem' in one) ?? (all as readonly Done[]);
}

/** As few pieces as possible, of about the same length. */
function piecesOf<One>(texts: readonly One[]): readonly (readonly One[])[] {
  const length = Math.ceil(texts.length / Math.ceil(texts.length / PIECE_TEXTS));
  return Array.from({ length: Math.ceil(texts.length / length) }, (_none, i) => texts.slice(i * length, (i + 1) * length));
}

/** For charged texts. If all are empty, nothing is reserved, and no glossary looked for. */
export function chargeFor(characters: number, glossary?: GlossaryReference): Charge {
  return { characters, reserve: characters > 0, glossary: characters > 0 ? glossary : undefined, refusal: undefined };
}

/** For texts that cost nothing, of which only the length is checked. */
export function uncharged(characters: number): Charge {
  return { characters, reserve: false, glossary: undefined, refusal: undefined };
}
