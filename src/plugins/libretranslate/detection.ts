// POST /detect: the language of a text, if the engine can detect it. It counts towards the rate and costs nothing.
import Type from 'typebox';
import { refuse } from 'lingate';
import type { PluginHost, RouteDoc } from 'lingate';
import { answer, engineStep, route, uncharged } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { lowerBase } from '../facades/default-variants.ts';
import { answered, number, string } from '../facades/reference.ts';
import type { ReadSlot } from '../facades/keys.ts';
import { ApiKey, AUTHENTICATED, BODY_TYPES, readParameters } from './libretranslate-request.ts';
import { isMissing, missingParameter, textsOf } from './translation-parameters.ts';
import { CONFIDENCE } from './translation.ts';

const CANNOT = refuse('validation_error', 'The engine of this service does not detect languages: name the source of each translation');

const DOC: RouteDoc = {
  summary: 'Detect a language',
  description: 'Detects the language of a text from its beginning. It counts towards the request rate and costs nothing.',
  authenticated: true,
  tag: 'Languages',
  body: {
    description: 'The text.',
    schema: Type.Object({ q: string('The text.'), api_key: ApiKey }),
    example: { q: 'Bonjour tout le monde' },
    contentTypes: BODY_TYPES,
  },
  answer: answered(
    'The language, or an empty list if the engine cannot detect it.',
    Type.Array(
      Type.Object({
        confidence: number('Always 100: engines report no confidence.'),
        language: string('The code.'),
      }),
    ),
    [{ confidence: 100, language: 'fr' }],
  ),
  problems: ['text_too_long', 'engine_unavailable'],
};

export function detection(host: PluginHost, read: ReadSlot): ApiPart {
  const slot = host.reserveSlot<string>('text to detect');
  return {
    routes: [
      route('POST', '/detect', [...AUTHENTICATED, 'libretranslate-read-text', 'admit', 'libretranslate-detect'], DOC, 'translate:text'),
    ],
    steps: (services) => [
      readParameters('libretranslate-read-text', services, read, (x, members) => {
        if (!services.engineCanFor(x).detection) return CANNOT;
        const q = members.get('q');
        if (isMissing(q)) return missingParameter('q');
        const texts = textsOf(q, missingParameter('q'));
        if ('problem' in texts) return texts;
        // A list is treated as one text: clients that send one have split a document.
        x.set(slot, texts.sound.text.join('\n'));
        return uncharged(texts.sound.characters);
      }),
      engineStep('libretranslate-detect', slot, (x, one) =>
        services.detect(x, [one]).then((found) => {
          if (found.kind !== 'detected') return found;
          const [language] = found.languages;
          return answer(language === undefined ? [] : [{ confidence: CONFIDENCE, language: lowerBase(language) }]);
        }),
      ),
    ],
  };
}
