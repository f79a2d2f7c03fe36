// The memory with random requests: its answers are the engine's, never another team's, never expired, and in the order of the texts.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../../src/core/exchange.ts';
import { alikeOptions, fewWords } from '../../../support/chosen-options.ts';
import { AGE_MAX_MS, memoryScene, OPTIONS, translated } from './scene.ts';

/** The entries are not compared: a glossary is known by its id. */
const alike = alikeOptions(fc.option(fc.record({ id: fewWords, entries: fc.constant({}) }), { nil: undefined }));
const request = fc.record({
  teamId: fc.constantFrom('T', 'T1', '1:T'),
  text: fc.array(fewWords, { minLength: 1, maxLength: 6 }),
  options: fc.oneof(alike, fc.constant(OPTIONS)),
  engines: fc.constantFrom(['small'], ['large', 'small'], ['large', 'small', 'third'], ['sma', 'll']),
  /** The last engine answers in place of the first, and that is known before or not. */
  failing: fc.constantFrom('no', 'unnoticed', 'known'),
  laterMs: fc.constantFrom(0, 0, 0, 0, 0, 1, AGE_MAX_MS / 3, AGE_MAX_MS),
});

describe('over random requests', () => {
  test('an answer equals the engine’s, text by text, and only unknown texts are sent to it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 60, size: 'max' }), async (requests) => {
        const scene = memoryScene();
        // What may be remembered: for which team, from which engine, and when.
        const madeAtMs = new Map<string, number>();
        for (const { teamId, text, options: chosen, engines, failing, laterMs } of requests) {
          scene.nowMs += laterMs;
          const answering = failing === 'no' ? engines[0] : engines.at(-1)!;
          const expected = failing === 'known' ? answering : engines[0];
          const keyOf = (engine: string, one: string): string =>
            JSON.stringify([teamId, engine, { ...chosen, glossary: chosen.glossary?.id }, one], (_key, value: unknown) => value ?? null);
          const isYoung = (engine: string, one: string): boolean =>
            scene.nowMs - (madeAtMs.get(keyOf(engine, one)) ?? -Infinity) < AGE_MAX_MS;
          const by = text.map((one) => [engines[0], expected].find((engine) => isYoung(engine, one)));
          const { sent, translations, spared } = await scene.ask({ teamId, text, options: chosen, engines, expected, answering });
          expect(sent).toEqual(text.filter((_one, i) => by[i] === undefined));
          expect(spared).toEqual([...text.keys()].filter((i) => by[i] !== undefined));
          expect(translations).toEqual(text.map((one, i) => translated(one, chosen, by[i] ?? answering)));
          for (const one of sent) madeAtMs.set(keyOf(answering, one), scene.nowMs);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('however small the memory, answers are right and the bytes stay within the limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 60, size: 'max' }), async (requests) => {
        const bytesMax = 3000;
        const scene = memoryScene({ bytesMax });
        for (const { teamId, text, options: chosen, engines, laterMs } of requests) {
          scene.nowMs += laterMs;
          const { translations } = await scene.ask({ teamId, text, options: chosen, engines });
          expect(translations).toEqual(text.map((one) => translated(one, chosen, engines[0])));
          expect(scene.own.bytes).toBeLessThanOrEqual(bytesMax);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('forgetting', () => {
  test('a team removes its texts and no others', async () => {
    const scene = memoryScene();
    await scene.ask({ teamId: 'A', text: ['x'] });
    await scene.ask({ teamId: 'B', text: ['x', 'y'] });
    scene.nowMs++;
    await scene.memory.forget('A', () => Promise.resolve());
    expect(scene.own.texts).toBe(2);
    expect((await scene.ask({ teamId: 'B', text: ['x', 'y'] })).sent).toEqual([]);
    scene.nowMs++;
    expect((await scene.ask({ teamId: 'A', text: ['x'] })).sent).toEqual(['x']);
    expect((await scene.ask({ teamId: 'A', text: ['x'] })).sent).toEqual([]);
  });

  describe.each([['A'], [undefined]])('also applies to what a request in flight learns afterwards (%s)', (teamId) => {
    test.each(['after', 'before'])('if it is looked up %s that', async (order) => {
      const scene = memoryScene();
      const x = { startedAtMs: scene.nowMs } as Exchange;
      const work = { teamId: 'A', text: ['x'], options: OPTIONS, engines: ['default'], expected: 'default', detectionOnly: false };
      const lookUp = () => scene.memory.answer({ x, ...work });
      const early = order === 'before' ? await lookUp() : undefined;
      scene.nowMs++;
      await scene.memory.forget(teamId, () => Promise.resolve());
      scene.nowMs++;
      const known = early ?? (await lookUp());
      known!.learn!([translated('x', OPTIONS, 'default')], 'default');
      expect(scene.own.texts).toBe(0);
    });
  });
});
