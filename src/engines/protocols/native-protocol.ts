// Lingate's own engine protocol: one POST with all texts, one answer with all translations.
import { isLarge, wholeObject } from '../../domain/entries-text.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { NamedOptions } from '../../domain/translation-options.ts';
import type { Attempt, EngineProtocol, EngineResponse, EngineWork } from '../../ports/engine.ts';
import { headersOf, translationsOf, trialBy, unusable } from './json-call.ts';

export const nativeProtocol: EngineProtocol = {
  // All options but `style` are sent, because the operator's own engine supports them.
  can: { formats: ['text', 'html', 'xml'] },
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

/** `JSON.stringify` omits `undefined`. As a literal: iterating over options takes twice as long. */
function bodyOf({ text, options }: Pick<EngineWork, 'text' | 'options'>): string {
  const { glossary } = options;
  const body: NamedOptions & { readonly text: readonly string[] } = {
    text,
    source_lang: options.sourceLang,
    target_lang: options.targetLang,
    formality: options.formality,
    context: options.context,
    glossary: glossary === undefined ? undefined : { id: glossary.id, entries: glossary.entries },
    // Plain text is the engine's default.
    format: options.format === 'text' ? undefined : options.format,
    ignore_tags: options.ignoreTags,
    // Not among this protocol's capabilities.
    style: undefined,
  };
  return JSON.stringify(body);
}
