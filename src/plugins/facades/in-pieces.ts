// The texts of a request that may have more of them than one to `/v1`: they go to the engine in pieces, all or none.
import type { Detected, Exchange, GatewayServices, Refusal, Translated, TranslationOrder } from 'lingate';

/** Of a request. */
export interface Texts {
  /** As they were sent. */
  readonly entries: readonly string[];
  /** Those that are not empty: only these go to the engine. */
  readonly text: readonly string[];
  /** Of all of them. */
  readonly characters: number;
}

/** As many as a request to `/v1` may have: every engine takes so many. */
const PIECE_TEXTS = 50;

type Translator = Pick<GatewayServices, 'translate'>;
type Detector = Pick<GatewayServices, 'detect'>;

/** At once: one after the other, with two attempts each, they could take longer than a reservation lasts. */
export async function translateAll(services: Translator, x: Exchange, order: TranslationOrder): Promise<Translated | Refusal> {
  if (order.text.length <= PIECE_TEXTS) return services.translate(x, order);
  const pieces = await allEnded(piecesOf(order.text).map((text) => services.translate(x, { ...order, text })));
  const refusal = pieces.find((piece) => 'problem' in piece);
  if (refusal !== undefined) return refusal;
  return { kind: 'translated', translations: (pieces as readonly Translated[]).flatMap(({ translations }) => translations) };
}

export async function detectAll(services: Detector, x: Exchange, texts: readonly string[]): Promise<Detected | Refusal> {
  if (texts.length <= PIECE_TEXTS) return services.detect(x, texts);
  const pieces = await allEnded(piecesOf(texts).map((piece) => services.detect(x, piece)));
  const refusal = pieces.find((piece) => 'problem' in piece);
  if (refusal !== undefined) return refusal;
  return { kind: 'detected', languages: (pieces as readonly Detected[]).flatMap(({ languages }) => languages) };
}

/** Also rejects only when all have ended: a request must not be answered while something is still asked of the engine for it. */
export async function allEnded<T>(works: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}

/** As few as there can be, and about as long as each other. */
function piecesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const length = Math.ceil(texts.length / Math.ceil(texts.length / PIECE_TEXTS));
  return Array.from({ length: Math.ceil(texts.length / length) }, (_none, i) => texts.slice(i * length, (i + 1) * length));
}
