// GET and POST /language/translate/v2/detect: the languages of texts. It counts towards the rate and costs nothing.
import Type from 'typebox';
import { refuse } from 'lingate';
import type { Detected, Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer, engineStep, route, uncharged } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { answered, arrayOf, boolean, JSON_OR_FORM, number, oneOrMore, required, string } from '../facades/reference.ts';
import { detectAll, toldOf } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { theirCode } from './google-languages.ts';
import { readParameters, TEXTS_MAX, textsOf, unknownOf } from './google-request.ts';
import type { GoogleSetting } from './google-request.ts';

const PATH = '/language/translate/v2/detect';
const CANNOT = refuse('validation_error', 'The engine of this service does not detect languages: name the source of each translation.');

const Detection = Type.Object({
  language: string('The code; `und` if the engine cannot detect it.'),
  isReliable: boolean('Always false, as at Google.'),
  confidence: number('1, or 0 for `und`: engines report no confidence.'),
});
const Detections = arrayOf(Type.Array(Detection), 'One list per text, in the order of the texts, with one entry each.');

const SHARED = {
  authenticated: true,
  tag: 'Languages',
  answer: answered('The languages.', Type.Object({ data: Type.Object({ detections: Detections }) }), {
    data: { detections: [[{ language: 'fr', isReliable: false, confidence: 1 }]] },
  }),
  problems: ['too_many_texts', 'text_too_long', 'engine_unavailable'],
} as const;

const POST_DOC: RouteDoc = {
  ...SHARED,
  summary: 'Detect languages',
  description: 'Detects the languages of texts from their beginnings. It counts towards the request rate and costs nothing.',
  body: {
    description: 'As a JSON object or as a form.',
    schema: Type.Object({ q: oneOrMore(TEXTS_MAX, 'A text, or up to 128. In a form, repeat the field.') }),
    example: { q: 'Bonjour tout le monde' },
    contentTypes: JSON_OR_FORM,
  },
};

const GET_DOC: RouteDoc = {
  ...SHARED,
  summary: 'Detect languages of texts in the query',
  description: 'The same for texts that are short enough for a URL. Proxies may log them.',
  query: [required('q', 'Bonjour tout le monde', 'A text; repeat it for several.')],
};

export function detection(host: PluginHost, setting: GoogleSetting): ApiPart {
  const slot = host.reserveSlot<Texts>('texts to detect');
  const steps = [...setting.authenticated, 'google-read-texts', 'admit', 'google-detect'];
  return {
    routes: [route('POST', PATH, steps, POST_DOC), route('GET', PATH, steps, GET_DOC)],
    steps: (services) => [
      readParameters('google-read-texts', services, setting, (x, members) => {
        const unknown = unknownOf(members, ['q']);
        if (unknown !== undefined) return unknown;
        const texts = textsOf(members);
        if ('problem' in texts) return texts;
        if (!services.engineCanFor(x).detection) return CANNOT;
        x.set(slot, texts.sound);
        return uncharged(texts.sound.characters);
      }),
      engineStep('google-detect', slot, (x, { entries, text: texts }) =>
        detectAll(services, x, texts).then((found) => (found.kind === 'detected' ? answerOf(entries, found) : found)),
      ),
    ],
  };
}

function answerOf(entries: readonly string[], { languages }: Detected): Outcome {
  const detections = toldOf(entries, languages, (code) => {
    // Google's code for an unknown language.
    const language = code === undefined ? 'und' : theirCode(code);
    return [{ language, isReliable: false, confidence: code === undefined ? 0 : 1 }];
  });
  return answer({ data: { detections } });
}
