// POST /translate: texts into one or several languages, charged once for each of them.
import { chargeSlot, json, NOTHING_CHOSEN, refusedCharge, requestStatsSlot } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, Outcome, Refusal, Slot, Translated, Translation } from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import { theirCode } from './azure-codes.ts';
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
  const rules = { languages: services.languages(), variants: options.default_variants, can: services.engineCan };
  const { head, body } = x;
  const judged = judgeTranslation(head.query, () => readTexts(head.headers, body, services.bodyBytesMax), rules);
  if (judged.kind === 'invalid') {
    x.set(chargeSlot, refusedCharge(judged.refusal, judged.characters));
    return judged.refusal;
  }
  const { order, characters } = judged;
  x.set(slot, order);
  // Texts that are all empty cost nothing.
  x.set(chargeSlot, { characters, reserve: characters > 0, glossary: undefined, refusal: undefined });
  return undefined;
}

function translateStep(services: GatewayServices, slot: Slot<AzureOrder>): BodyStep {
  return {
    kind: 'body',
    name: 'azure-translate',
    headers: ['traceparent'],
    run(x) {
      const order = x.need(slot);
      if (order.text.length === 0) return answerOf(x, order, new Map());
      // At once and not one after another: the reservation lasts for two attempts. Two codes may mean the same target.
      const targets = [...new Set(order.targets.map(({ targetLang }) => targetLang))];
      return Promise.all(targets.map((targetLang) => into(x, targetLang, order, services))).then((all) => tell(x, order, targets, all));
    },
  };
}

function into(x: Exchange, targetLang: string, order: AzureOrder, services: GatewayServices): Promise<Translated | Refusal> {
  const { text, sourceLang, format } = order;
  return services.translate(x, { text, options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format }, glossaryId: undefined });
}

/** All or nothing: one that failed is the answer. */
function tell(x: Exchange, order: AzureOrder, targets: readonly string[], all: readonly (Translated | Refusal)[]): Outcome {
  const byTarget = new Map<string, readonly Translation[]>();
  for (const [index, told] of all.entries()) {
    if (told.kind !== 'translated') return told;
    byTarget.set(targets[index]!, told.translations);
  }
  return answerOf(x, order, byTarget);
}

function answerOf(x: Exchange, order: AzureOrder, byTarget: ReadonlyMap<string, readonly Translation[]>): Outcome {
  const [first] = byTarget.values();
  let next = 0;
  const told = order.entries.map((entry) => {
    const index = entry === '' ? undefined : next++;
    const language = index === undefined || order.sourceLang !== undefined ? undefined : first![index]!.detectedSourceLanguage;
    return {
      detectedLanguage: language === undefined ? undefined : { language: theirCode(language), score: SCORE },
      translations: order.targets.map(({ to, targetLang }) => ({
        text: index === undefined ? '' : byTarget.get(targetLang)![index]!.text,
        to,
      })),
    };
  });
  return json(JSON.stringify(told), 200, [['X-metered-usage', String(x.need(requestStatsSlot).characters)]]);
}
