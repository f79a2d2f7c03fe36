// POST /detect: what language a text is in, by engines that can tell. It counts against the rate and costs nothing.
import Type from 'typebox';
import { chargeSlot, json, refuse } from 'lingate';
import type { BodyStep, Detected, Exchange, GatewayServices, Outcome, Refusal, RouteDoc, Slot } from 'lingate';
import type { Members } from '../facades/members.ts';
import { theirCode } from './codes.ts';
import { ApiKey, BODY_TYPES, PROBLEM_FORM } from './libretranslate-document.ts';
import { AUTHENTICATED, readParameters } from './key-and-members.ts';
import type { ReadSlot } from './key-and-members.ts';
import { isMissing, missingParameter, textsOf } from './translation-parameters.ts';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import type { LibreTranslateOptions } from './libretranslate-options.ts';
import { CONFIDENCE } from './translation.ts';

const CANNOT = refuse('validation_error', 'The engine of this service does not detect languages: name the source of each translation');

const DOC: RouteDoc = {
  summary: 'Detect a language',
  description: 'What language a text is in, by its beginning. It counts against the request rate and costs nothing.',
  authenticated: true,
  tag: 'Languages',
  body: {
    description: 'The text.',
    schema: Type.Object({ q: Type.String({ description: 'The text.' }), api_key: ApiKey }),
    example: { q: 'Bonjour tout le monde' },
    contentTypes: BODY_TYPES,
  },
  answer: {
    status: 200,
    description: 'The language, or an empty list where the engine cannot tell.',
    schema: Type.Array(
      Type.Object({
        confidence: Type.Number({ description: 'Always 100: engines tell a language and not how sure they are.' }),
        language: Type.String({ description: 'The code.' }),
      }),
    ),
    example: [{ confidence: 100, language: 'fr' }],
  },
  problems: ['text_too_long', 'engine_unavailable'],
};

export function detection({ host }: PartSetup<LibreTranslateOptions>, read: ReadSlot): ApiPart {
  const slot = host.reserveSlot<string>('text to detect');
  return {
    routes: [
      {
        method: 'POST',
        path: '/detect',
        takesBody: true,
        steps: [...AUTHENTICATED, 'libretranslate-read-text', 'admit', 'libretranslate-detect'],
        problemForm: PROBLEM_FORM,
        doc: DOC,
      },
    ],
    steps: (services) => [
      readParameters('libretranslate-read-text', services, read, (x, members) => take(x, members, services, slot)),
      detectStep(services, slot),
    ],
  };
}

function take(x: Exchange, members: Members, { engineCan }: GatewayServices, slot: Slot<string>): Refusal | undefined {
  if (!engineCan.detection) return CANNOT;
  const q = members.get('q');
  if (isMissing(q)) return missingParameter('q');
  const texts = textsOf(q);
  if ('problem' in texts) return texts;
  // A list is taken for one text: clients that send one have split a document.
  x.set(slot, texts.sound.text.join('\n'));
  x.set(chargeSlot, { characters: texts.sound.characters, reserve: false, glossary: undefined, refusal: undefined });
  return undefined;
}

function detectStep(services: GatewayServices, slot: Slot<string>): BodyStep {
  return {
    kind: 'body',
    name: 'libretranslate-detect',
    headers: ['traceparent'],
    run: (x) => services.detect(x, [x.need(slot)]).then(answerOf),
  };
}

function answerOf(found: Detected | Refusal): Outcome {
  if (found.kind !== 'detected') return found;
  const [language] = found.languages;
  return json(JSON.stringify(language === undefined ? [] : [{ confidence: CONFIDENCE, language: theirCode(language) }]));
}
