// Random scenarios for batches: requests that arrive and leave, and an adapter with planned failures.
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { BatchLimits } from '../../../src/engines/batch.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { Attempt, EngineProtocol, EngineWork, Translation } from '../../../src/ports/engine.ts';
import { alikeOptions } from '../../support/chosen-options.ts';

/** The engine fails every call with a text that ends with this. */
const POISON = 'poison';

interface Request {
  readonly work: EngineWork;
  /** Turns of the event loop before it arrives. */
  readonly comesAfter: number;
  /** Turns after which its caller leaves; if `undefined`, it stays. */
  readonly leavesAfter: number | undefined;
}

interface Scene {
  readonly requests: readonly Request[];
  readonly limits: BatchLimits;
}

/** The fault of each call, by its number; calls beyond the list succeed. */
type CallFault = 'none' | 'status' | 'one_too_few' | 'one_too_many' | 'throws' | 'never';

const GLOSSARIES = [undefined, { id: 'G', entries: { a: 'b' } }, { id: 'H', entries: { a: 'b' } }, { id: 'G', entries: { a: 'c' } }];

const options = alikeOptions(fc.constantFrom(...GLOSSARIES));

/** Few different values, so that requests can share calls. */
const request = fc.record({
  options: fc.oneof({ weight: 3, arbitrary: fc.constant({ ...NOTHING_CHOSEN, targetLang: 'DE' }) }, { weight: 2, arbitrary: options }),
  texts: fc.array(fc.oneof({ weight: 9, arbitrary: fc.string({ maxLength: 8, unit: 'grapheme' }) }, fc.constant(POISON)), {
    minLength: 1,
    maxLength: 5,
  }),
  comesAfter: fc.nat({ max: 2 }),
  leavesAfter: fc.option(fc.nat({ max: 5 }), { nil: undefined, freq: 4 }),
});

const limits = fc.record({
  texts_max: fc.integer({ min: 2, max: 12 }),
  characters_max: fc.constantFrom(10, 40, 10_000),
  wait_ms: fc.constantFrom(0, 0, 0, 2),
});

export const scene: fc.Arbitrary<Scene> = fc
  .record({ drawn: fc.array(request, { minLength: 4, maxLength: 20 }), limits })
  .map(({ drawn, limits: chosen }) => ({
    limits: chosen,
    requests: drawn.map(({ options: asked, texts, comesAfter, leavesAfter }, index) => ({
      comesAfter,
      leavesAfter,
      work: {
        options: asked,
        requestId: `request-${index}`,
        traceparent: undefined,
        // All texts are different and have their request's number.
        text: texts.map((text, place) => `${index}.${place} ${text}`),
      },
    })),
  }));

export const faults = fc.array(
  fc.constantFrom<CallFault[]>('none', 'none', 'none', 'status', 'one_too_few', 'one_too_many', 'throws', 'never'),
  {
    maxLength: 30,
  },
);

/** Has everything that may affect a translation, sorted by name, because equal options may be in another order. */
function translationOf(text: string, { options: asked }: EngineWork): string {
  const byName = Object.entries(asked).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([text, Object.fromEntries(byName)]);
}

/** The answer of an engine without faults. */
export function translationsOf(work: EngineWork): Translation[] {
  return work.text.map((text) => ({
    text: translationOf(text, work),
    // Not the same for all texts, as with a real engine.
    detectedSourceLanguage: text.length % 2 === 0 ? 'EN' : undefined,
  }));
}

export class PlannedAdapter implements EngineProtocol {
  readonly calls: EngineWork[] = [];
  readonly #faults: readonly CallFault[];

  constructor(planned: readonly CallFault[]) {
    this.#faults = planned;
  }

  async attempt(work: EngineWork): Promise<Attempt> {
    const number = this.calls.push(work) - 1;
    const fault = work.text.some((text) => text.endsWith(` ${POISON}`)) ? 'status' : (this.#faults[number] ?? 'none');
    for (let turns = number % 3; turns > 0; turns--) await turn();
    const translations = translationsOf(work);
    switch (fault) {
      case 'none':
        return { kind: 'usable', translations };
      case 'status':
        return { kind: 'unusable', failure: 'status' };
      case 'one_too_few':
        return { kind: 'usable', translations: translations.slice(1) };
      case 'one_too_many':
        return { kind: 'usable', translations: [...translations, { text: 'one too many', detectedSourceLanguage: undefined }] };
      case 'throws':
        throw new Error('a bug');
      case 'never':
        return new Promise(() => undefined);
    }
  }
}
