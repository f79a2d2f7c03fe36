// Lingate's own engine protocol: one POST with all texts, one answer with all translations.
import { isLarge, wholeObject } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { NAMED_CAN, namedOptions } from '../../domain/translation-options.ts';
import type { Attempt, EngineProtocol, EngineResponse, EngineWork } from '../../ports/engine.ts';
import { headersOf, translationsOf, trialBy, unusable } from './json-call.ts';

export const nativeProtocol: EngineProtocol = {
  can: NAMED_CAN,
  trial: (wire) => trialBy(wire, '/translate', { body: '{"text":[]}' }),
  attempt(work, wire) {
    const { glossary } = work.options;
    const call = { method: 'POST', path: '/translate', headers: headersOf(work) } as const;
    if (glossary?.pieces === undefined || !isLarge(glossary.pieces)) return wire.send({ ...call, body: bodyOf(work) }, judge);
    return wire.send({ ...call, body: undefined, pieces: [...bodyWith(work, glossary.id, glossary.pieces)] }, judge);
  },
};

function judge(response: EngineResponse, { text }: EngineWork): Attempt {
  const translations = translationsOf(response, text.length);
  return typeof translations === 'string' ? unusable(translations) : { kind: 'usable', translations };
}

/** The same body, with a large glossary as the store has it, so that it is not serialized again. */
function* bodyWith(work: EngineWork, id: string, pieces: EntryPieces): Generator<Uint8Array, void> {
  const rest = bodyOf({ ...work, options: { ...work.options, glossary: undefined } });
  yield Buffer.from(`${rest.slice(0, -1)},"glossary":{"id":${JSON.stringify(id)},"entries":`);
  yield* wholeObject(pieces);
  yield Buffer.from('}}');
}

function bodyOf({ text, options }: Pick<EngineWork, 'text' | 'options'>): string {
  return JSON.stringify(namedOptions(text, options));
}
