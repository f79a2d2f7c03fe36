// POST /translate: texts into one or several languages, charged once for each of them.
import { chargedCharacters, chargeSlot, json, NOTHING_CHOSEN, refusedCharge } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, Outcome, Refusal, Slot, Translated, Translation } from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import { allEnded } from '../facades/in-pieces.ts';
import { theirCode } from './azure-codes.ts';
import type { Target } from './azure-codes.ts';
import type { AzureOptions } from './azure-options.ts';
import { judgeTranslation } from './azure-parameters.ts';
import type { AzureOrder } from './azure-parameters.ts';
import { PROBLEM_FORM } from './azure-problem-form.ts';
import { AUTHENTICATED, readStep } from './azure-steps.ts';
import { readTexts } from './azure-texts.ts';
import { TRANSLATE_DOC } from './azure-translate-doc.ts';

/** Engines report a language and not how sure they are; it is the one that they translated from. */
export const SCORE = 1;

export function translate({ options, host }: PartSetup<AzureOptions>): ApiPart {
  const slot = host.reserveSlot<AzureOrder>('translation');
  return {
    routes: [
      {
        method: 'POST',
        path: '/translate',
        takesBody: true,
        steps: [...AUTHENTICATED, 'azure-read-translation', 'admit', 'azure-translate'],
        problemForm: PROBLEM_FORM,
        doc: TRANSLATE_DOC,
      },
    ],
    steps: (services) => [readStep('azure-read-translation', (x) => take(x, services, slot, options)), translateStep(services, slot)],
  };
}

function take(x: Exchange, services: GatewayServices, slot: Slot<AzureOrder>, options: AzureOptions): Refusal | undefined {
  const rules = { languages: services.languages(x), variants: options.default_variants, can: services.engineCan };
  const { head, body } = x;
  const judged = judgeTranslation(head.query, () => readTexts(head.headers, body, services.bodyBytesMax), rules);
  if (judged.kind === 'invalid') {
    x.set(chargeSlot, refusedCharge(judged.refusal, judged.characters));
    return judged.refusal;
  }
  const { order, characters } = judged;
  const refusal = refusalOf(x, services, order);
  if (refusal !== undefined) {
    x.set(chargeSlot, refusedCharge(refusal, characters));
    return refusal;
  }
  x.set(slot, order);
  // Texts that are all empty cost nothing.
  x.set(chargeSlot, { characters, reserve: characters > 0, glossary: undefined, refusal: undefined });
  services.judgeAgain(x, () => refusalOf(x, services, order));
  return undefined;
}

/** Where no engine does all of it for one of the targets. */
function refusalOf(x: Exchange, services: GatewayServices, { targets, sourceLang, format }: AzureOrder): Refusal | undefined {
  for (const { targetLang } of targets) {
    const refusal = services.refusalFor(x, { ...NOTHING_CHOSEN, sourceLang, targetLang, format });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function translateStep(services: GatewayServices, slot: Slot<AzureOrder>): BodyStep {
  return {
    kind: 'body',
    name: 'azure-translate',
    headers: ['traceparent'],
    run(x) {
      const order = x.need(slot);
      if (order.text.length === 0) return answerOf(x, order, []);
      // At once and not one after another: the reservation lasts for two attempts.
      return allEnded(order.targets.map((target) => into(x, target, order, services))).then((all) => tell(x, order, all));
    },
  };
}

function into(x: Exchange, { targetLang }: Target, order: AzureOrder, services: GatewayServices): Promise<Translated | Refusal> {
  const { text, sourceLang, format } = order;
  return services.translate(x, { text, options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format }, glossaryId: undefined });
}

/** All or nothing: one that failed is the answer. */
function tell(x: Exchange, order: AzureOrder, all: readonly (Translated | Refusal)[]): Outcome {
  const translated: (readonly Translation[])[] = [];
  for (const told of all) {
    if (told.kind !== 'translated') return told;
    translated.push(told.translations);
  }
  return answerOf(x, order, translated);
}

/** `translated` are those of the texts that are not empty, for each target; nothing where all texts are empty. */
function answerOf(x: Exchange, { entries, targets, sourceLang }: AzureOrder, translated: readonly (readonly Translation[])[]): Outcome {
  let next = 0;
  const told = entries.map((entry) => {
    const all = entry === '' ? undefined : translated.map((ofTarget) => ofTarget[next]!);
    if (all !== undefined) next++;
    const language = sourceLang === undefined ? all?.[0]!.detectedSourceLanguage : undefined;
    return {
      detectedLanguage: language === undefined ? undefined : { language: theirCode(language), score: SCORE },
      translations: targets.map(({ to }, index) => ({ text: all?.[index]!.text ?? '', to })),
    };
  });
  return json(JSON.stringify(told), 200, [['X-metered-usage', String(chargedCharacters(x))]]);
}
