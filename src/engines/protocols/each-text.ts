// Helpers for engines that take one text per call, and for texts of only white space, which are not sent.
import type { Attempt, AttemptFailure, Translation } from '../../ports/engine.ts';

/** Texts of one work translated concurrently: more would only queue at the engine. */
const TEXTS_AT_ONCE = 4;
const VISIBLE = /\S/;

/** Translates every text separately, a few at a time. The first failure ends the attempt, and no further text is sent. */
export async function eachText(
  text: readonly string[],
  translate: (text: string) => Promise<Translation | AttemptFailure>,
): Promise<Attempt> {
  const translations: Translation[] = [];
  let next = 0;
  let failure: AttemptFailure | undefined;
  const worker = async (): Promise<void> => {
    while (next < text.length && failure === undefined) {
      const index = next++;
      const result = await translate(text[index]!);
      if (typeof result === 'string') failure ??= result;
      else translations[index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(TEXTS_AT_ONCE, text.length) }, worker));
  return failure === undefined ? { kind: 'usable', translations } : { kind: 'unusable', failure };
}

/** Returns texts of only white space unchanged: engines strip them, and return nothing or something invented. */
export async function withoutBlanks(
  text: readonly string[],
  translate: (visible: readonly string[]) => Promise<Attempt>,
): Promise<Attempt> {
  if (text.every((entry) => VISIBLE.test(entry))) return translate(text);
  const visible = text.filter((entry) => VISIBLE.test(entry));
  const attempt: Attempt = visible.length === 0 ? { kind: 'usable', translations: [] } : await translate(visible);
  if (attempt.kind === 'unusable' || attempt.translations.length !== visible.length) return attempt;
  let next = 0;
  const blank = (entry: string): Translation => ({ text: entry, detectedSourceLanguage: undefined });
  const translations = text.map((entry) => (VISIBLE.test(entry) ? attempt.translations[next++]! : blank(entry)));
  return { ...attempt, translations };
}
