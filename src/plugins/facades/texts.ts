// The texts of a request: judged, sent to the engine in pieces where there are more than `/v1` takes, all or none, and told in their places.
import { countCharacters } from 'lingate';
import type { Detected, Exchange, GatewayServices, Refusal, Translated, TranslationOrder } from 'lingate';
import type { Judged } from './members.ts';

/** Of a request. */
export interface Texts {
  /** As they were sent. */
  readonly entries: readonly string[];
  /** Those that are not empty: only these go to the engine. */
  readonly text: readonly string[];
  /** Of all of them. */
  readonly characters: number;
}

/** In an API's words, why texts are refused. */
export interface TextFaults {
  readonly notText: (index: number) => Refusal;
  /** Half of a surrogate pair is no character. */
  readonly half: (index: number) => Refusal;
  /** Empty ones among others are answered without the engine, but something has to be left for it. */
  readonly none: Refusal;
}

export function judgeTexts(entries: readonly unknown[], { notText, half, none }: TextFaults): Judged<Texts> {
  let characters = 0;
  for (const [index, entry] of entries.entries()) {
    if (typeof entry !== 'string') return notText(index);
    if (!entry.isWellFormed()) return half(index);
    characters += countCharacters(entry);
  }
  const sound = textsOf(entries as readonly string[], characters);
  return sound.text.length === 0 ? none : { sound };
}

export function textsOf(entries: readonly string[], characters: number): Texts {
  return { entries, text: entries.filter((entry) => entry !== ''), characters };
}

/** What is told of each entry by what was found of those that are not empty: of the others nothing is known. */
export function toldOf<Found, Told>(
  entries: readonly string[],
  found: readonly Found[],
  tell: (one: Found | undefined, entry: string) => Told,
): readonly Told[] {
  let next = 0;
  return entries.map((entry) => tell(entry === '' ? undefined : found[next++], entry));
}

/** As many as a request to `/v1` may have: every engine takes so many. */
export const PIECE_TEXTS = 50;

type Translator = Pick<GatewayServices, 'translate'>;
type Detector = Pick<GatewayServices, 'detect'>;

/** At once: one after the other, with two attempts each, they could take longer than a reservation lasts. */
export async function translateAll(services: Translator, x: Exchange, order: TranslationOrder): Promise<Translated | Refusal> {
  if (order.text.length <= PIECE_TEXTS) return services.translate(x, order);
  const pieces = await allOrRefusal(piecesOf(order.text).map((text) => services.translate(x, { ...order, text })));
  return 'problem' in pieces ? pieces : { kind: 'translated', translations: pieces.flatMap(({ translations }) => translations) };
}

export async function detectAll(services: Detector, x: Exchange, texts: readonly string[]): Promise<Detected | Refusal> {
  if (texts.length <= PIECE_TEXTS) return services.detect(x, texts);
  const pieces = await allOrRefusal(piecesOf(texts).map((piece) => services.detect(x, piece)));
  return 'problem' in pieces ? pieces : { kind: 'detected', languages: pieces.flatMap(({ languages }) => languages) };
}

/**
 * All or nothing: the first refusal is the answer. Resolves, and rejects, only when all have ended: a request must not be
 * answered while something is still asked of the engine for it.
 */
export async function allOrRefusal<Done extends object>(works: readonly Promise<Done | Refusal>[]): Promise<readonly Done[] | Refusal> {
  await Promise.allSettled(works);
  const all = await Promise.all(works);
  return all.find((one): one is Refusal => 'problem' in one) ?? (all as readonly Done[]);
}

/** As few as there can be, and about as long as each other. */
function piecesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const length = Math.ceil(texts.length / Math.ceil(texts.length / PIECE_TEXTS));
  return Array.from({ length: Math.ceil(texts.length / length) }, (_none, i) => texts.slice(i * length, (i + 1) * length));
}
