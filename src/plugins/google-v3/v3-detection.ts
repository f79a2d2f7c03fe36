// Language detection of version 3 of Google's API: POST …:detectLanguage. It counts towards the rate and costs nothing.
import { refuse } from 'lingate';
import type { Detected, Outcome, PluginHost, RouteDoc } from 'lingate';
import Type from 'typebox';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { objectSchema } from '../facades/parameters.ts';
import { answered, number, string } from '../facades/reference.ts';
import { theirCode } from '../google-v2/google-codes.ts';
import { detectionChain, detectionSteps } from '../google-v2/google-detection.ts';
import type { DetectionParameter } from '../google-v2/google-detection.ts';
import { textsLimit, textsParameter } from '../google-v2/google-request.ts';
import type { GoogleSetting } from '../google-v2/google-request.ts';
import { LABELS, MODEL_V3, routesOf } from './v3-request.ts';

const READ = 'google-read-text';
const TYPES = ['text/plain', 'text/html'];

const PARAMETERS: readonly DetectionParameter[] = [
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
  return {
    routes: routesOf('POST', ':detectLanguage', detectionChain(setting, READ), DOC, 'translate:text'),
    steps: detectionSteps(host, setting, { read: READ, parameters: PARAMETERS, answerOf }),
  };
}

function answerOf(_entries: readonly string[], { languages: [code] }: Detected): Outcome {
  const language = code === undefined ? { languageCode: 'und', confidence: 0 } : { languageCode: theirCode(code), confidence: 1 };
  return answer({ languages: [language] });
}
