// GET and POST /language/translate/v2/detect: the languages of texts. It counts towards the rate and costs nothing.
import Type from 'typebox';
import { refuse } from 'lingate';
import type { Detected, Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer, engineStep, route, uncharged } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { answered, arrayOf, boolean, JSON_OR_FORM, number, string } from '../facades/reference.ts';
import { objectSchema, queryDocs, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { detectAll, NO_TEXTS, toldOf } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { theirCode } from './google-codes.ts';
import { Q_LIMIT, readParameters, textsParameter } from './google-request.ts';
import type { GoogleSetting } from './google-request.ts';

const PATH = '/language/translate/v2/detect';
const READ = 'google-read-texts';
const CANNOT = refuse('validation_error', 'The engine of this service does not detect languages: name the source of each translation.');

interface Asked {
  readonly texts: Texts;
}
/** A parameter of a detection. */
export type DetectionParameter = ParameterEntry<Asked, undefined>;

const PARAMETERS: readonly DetectionParameter[] = [
  { ...textsParameter(Q_LIMIT, 'A text, or up to 128; repeat it in a form or a query.'), example: 'Bonjour tout le monde' },
];

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
    schema: objectSchema(PARAMETERS),
    example: { q: 'Bonjour tout le monde' },
    contentTypes: JSON_OR_FORM,
  },
};

const GET_DOC: RouteDoc = {
  ...SHARED,
  summary: 'Detect languages of texts in the query',
  description: 'The same for texts that are short enough for a URL. Proxies may log them.',
  query: queryDocs(PARAMETERS),
};

export function detection(host: PluginHost, setting: GoogleSetting): ApiPart {
  const steps = detectionChain(setting, READ);
  return {
    routes: [route('POST', PATH, steps, POST_DOC, 'translate:text'), route('GET', PATH, steps, GET_DOC, 'translate:text')],
    steps: detectionSteps(host, setting, { read: READ, parameters: PARAMETERS, answerOf }),
  };
}

/** What differs between the versions of the API. */
interface DetectionParts {
  /** The name of the step that reads the texts. */
  readonly read: string;
  readonly parameters: readonly DetectionParameter[];
  /** `entries` are the texts as sent, of which some may be empty. */
  readonly answerOf: (entries: readonly string[], found: Detected) => Outcome;
}

/** The names of a detection's steps. */
export function detectionChain({ authenticated }: GoogleSetting, read: string): readonly string[] {
  return [...authenticated, read, 'admit', 'google-detect'];
}

/** Reads the texts, refuses them if no engine of the caller's detects, and answers with what was detected. */
export function detectionSteps(
  host: PluginHost,
  setting: GoogleSetting,
  { read, parameters, answerOf: write }: DetectionParts,
): ApiPart['steps'] {
  const slot = host.reserveSlot<Texts>('texts to detect');
  return (services) => [
    readParameters(read, services, setting, parameters, (x, members) => {
      const asked: Asked = { texts: NO_TEXTS };
      const refusal = readAll(parameters, members, asked, undefined);
      if (refusal !== undefined) return refusal;
      if (!services.engineCanFor(x).detection) return CANNOT;
      x.set(slot, asked.texts);
      return uncharged(asked.texts.characters);
    }),
    engineStep('google-detect', slot, (x, { entries, text: texts }) =>
      detectAll(services, x, texts).then((found) => (found.kind === 'detected' ? write(entries, found) : found)),
    ),
  ];
}

function answerOf(entries: readonly string[], { languages }: Detected): Outcome {
  const detections = toldOf(entries, languages, (code) => {
    // Google's code for an unknown language.
    const language = code === undefined ? 'und' : theirCode(code);
    return [{ language, isReliable: false, confidence: code === undefined ? 0 : 1 }];
  });
  return answer({ data: { detections } });
}
