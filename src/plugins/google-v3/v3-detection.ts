// Language detection of version 3 of Google's API: POST …:detectLanguage. It counts towards the rate and costs nothing.
import { refuse } from 'lingate';
import type { PluginHost, RouteDoc } from 'lingate';
import Type from 'typebox';
import { answer, engineStep, uncharged } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { objectSchema, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, number, string } from '../facades/reference.ts';
import { detectAll, NO_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { theirCode } from '../google-v2/google-codes.ts';
import { CANNOT } from '../google-v2/google-detection.ts';
import { readParameters, textsLimit, textsParameter } from '../google-v2/google-request.ts';
import type { GoogleSetting } from '../google-v2/google-request.ts';
import { LABELS, MODEL_V3, routesOf } from './v3-request.ts';

interface AskedV3 {
  readonly texts: Texts;
}

const TYPES = ['text/plain', 'text/html'];

const PARAMETERS: readonly ParameterEntry<AskedV3, undefined>[] = [
  { ...textsParameter(textsLimit('content', 1), 'The text.'), schema: Type.String(), example: 'Bonjour tout le monde' },
  {
    name: 'mimeType',
    does: 'nothing',
    about: '`text/plain` or `text/html`.',
    example: 'text/plain',
    faultOf: (value, named) =>
      TYPES.some((one) => one === value) ? undefined : refuse('validation_error', `${named}: must be ${TYPES.join(' or ')}.`),
  },
  MODEL_V3,
  LABELS,
];

const DOC: RouteDoc = {
  summary: 'Detect the language of a text',
  description: 'Detects the language of a text from its beginning. It counts towards the request rate and costs nothing.',
  authenticated: true,
  tag: 'Languages',
  body: { description: 'A JSON object.', schema: objectSchema(PARAMETERS), example: { content: 'Bonjour tout le monde' } },
  answer: answered(
    'The language.',
    Type.Object({
      languages: Type.Array(
        Type.Object({
          languageCode: string('The code; `und` if the engine cannot detect it.'),
          confidence: number('1, or 0 for `und`: engines report no confidence.'),
        }),
        { description: 'One entry.' },
      ),
    }),
    { languages: [{ languageCode: 'fr', confidence: 1 }] },
  ),
  problems: ['text_too_long', 'engine_unavailable'],
};

export function detectionV3(host: PluginHost, setting: GoogleSetting): ApiPart {
  const slot = host.reserveSlot<Texts>('text to detect');
  const steps = [...setting.authenticated, 'google-read-text', 'admit', 'google-detect'];
  return {
    routes: routesOf('POST', ':detectLanguage', steps, DOC),
    steps: (services) => [
      readParameters('google-read-text', services, setting, PARAMETERS, (x, members) => {
        const asked: AskedV3 = { texts: NO_TEXTS };
        const refusal = readAll(PARAMETERS, members, asked, undefined);
        if (refusal !== undefined) return refusal;
        if (!services.engineCanFor(x).detection) return CANNOT;
        x.set(slot, asked.texts);
        return uncharged(asked.texts.characters);
      }),
      engineStep('google-detect', slot, (x, { text }) =>
        detectAll(services, x, text).then((found) => {
          if (found.kind !== 'detected') return found;
          const [code] = found.languages;
          return answer({
            languages: [{ languageCode: code === undefined ? 'und' : theirCode(code), confidence: code === undefined ? 0 : 1 }],
          });
        }),
      ),
    ],
  };
}
