// GET and POST /language/translate/v2/detect: what languages texts are in. It counts against the rate and costs nothing.
import Type from 'typebox';
import { json, refuse } from 'lingate';
import type { BodyStep, Detected, GatewayServices, Outcome, Refusal, RouteDoc, Slot } from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import { detectAll } from '../facades/in-pieces.ts';
import type { Texts } from '../facades/in-pieces.ts';
import { AUTHENTICATED, readParameters } from './google-caller.ts';
import { theirCode } from './google-codes.ts';
import { PROBLEM_FORM } from './google-errors.ts';
import type { GoogleOptions } from './google-options.ts';
import { textsOf, unknownOf } from './google-parameters.ts';

const PATH = '/language/translate/v2/detect';
/** Google's code for a language that nobody has found out. */
const UNDETERMINED = 'und';

const CANNOT = refuse('validation_error', 'The engine of this service does not detect languages: name the source of each translation.');

const Answer = Type.Object({
  data: Type.Object({
    detections: Type.Array(
      Type.Array(
        Type.Object({
          language: Type.String({ description: 'The code; `und` if the engine cannot tell.' }),
          isReliable: Type.Boolean({ description: 'Always false, as at Google.' }),
          confidence: Type.Number({ description: '1, or 0 for `und`: engines tell a language and not how sure they are.' }),
        }),
      ),
      { description: 'One list per text, in the order of the texts, with one entry each.' },
    ),
  }),
});

const SHARED: Pick<RouteDoc, 'authenticated' | 'tag' | 'answer' | 'problems'> = {
  authenticated: true,
  tag: 'Languages',
  answer: {
    status: 200,
    description: 'The languages.',
    schema: Answer,
    example: { data: { detections: [[{ language: 'fr', isReliable: false, confidence: 1 }]] } },
  },
  problems: ['too_many_texts', 'text_too_long', 'engine_unavailable'],
};

const POST_DOC: RouteDoc = {
  ...SHARED,
  summary: 'Detect languages',
  description: 'What languages texts are in, by their beginnings. It counts against the request rate and costs nothing.',
  body: {
    description: 'As a JSON object or as a form.',
    schema: Type.Object({
      q: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 128 })], {
        description: 'A text, or up to 128. In a form the field is repeated.',
      }),
    }),
    example: { q: 'Bonjour tout le monde' },
    contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
  },
};

const GET_DOC: RouteDoc = {
  ...SHARED,
  summary: 'Detect languages of a query',
  description: 'The same for texts that are short enough to stand in an address. What is on the way may log them.',
  query: [
    { name: 'q', description: 'A text; repeated for several.', schema: Type.String(), required: true, example: 'Bonjour tout le monde' },
  ],
};

export function detection({ host }: PartSetup<GoogleOptions>): ApiPart {
  const slot = host.reserveSlot<Texts>('texts to detect');
  const steps = [...AUTHENTICATED, 'google-read-texts', 'admit', 'google-detect'];
  const chain = { path: PATH, steps, problemForm: PROBLEM_FORM };
  return {
    routes: [
      { method: 'POST', takesBody: true, ...chain, doc: POST_DOC },
      { method: 'GET', takesBody: false, ...chain, doc: GET_DOC },
    ],
    steps: (services) => [readTexts(services, slot), detectStep(services, slot)],
  };
}

function readTexts(services: GatewayServices, slot: Slot<Texts>): BodyStep {
  return readParameters('google-read-texts', services, (x, members) => {
    const unknown = unknownOf(members, ['q']);
    if (unknown !== undefined) return unknown;
    const texts = textsOf(members);
    if ('problem' in texts) return texts;
    if (!services.engineCan.detection) return CANNOT;
    x.set(slot, texts.sound);
    return { characters: texts.sound.characters, reserve: false, glossary: undefined, refusal: undefined };
  });
}

function detectStep(services: GatewayServices, slot: Slot<Texts>): BodyStep {
  return {
    kind: 'body',
    name: 'google-detect',
    headers: ['traceparent'],
    run(x) {
      const texts = x.need(slot);
      const tell = (found: Detected | Refusal): Outcome => (found.kind === 'detected' ? answerOf(texts, found) : found);
      return detectAll(services, x, texts.text).then(tell);
    },
  };
}

function answerOf({ entries }: Texts, { languages }: Detected): Outcome {
  let next = 0;
  const detections = entries.map((entry) => {
    const language = entry === '' ? undefined : languages[next++];
    return [
      {
        language: language === undefined ? UNDETERMINED : theirCode(language),
        isReliable: false,
        confidence: language === undefined ? 0 : 1,
      },
    ];
  });
  return json(JSON.stringify({ data: { detections } }));
}
