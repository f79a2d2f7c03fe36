// Plugins' text stages in front of the engine: their order, what is sent, restored, spared and learnt, and which are not called.
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../src/core/exchange.ts';
import { refuse } from '../../../src/core/problem.ts';
import { passStages } from '../../../src/domain/text-stages.ts';
import type { PassedTexts, TextStage, TextWork } from '../../../src/domain/text-stages.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { Translation } from '../../../src/domain/translation-options.ts';

const REFUSAL = refuse('engine_unavailable', 'Not today.');

const said = (text: string): Translation => ({ text, detectedSourceLanguage: undefined });

function workOf(text: readonly string[], more: Partial<TextWork> = {}): TextWork {
  const options = { ...NOTHING_CHOSEN, targetLang: 'DE' };
  return { x: {} as Exchange, teamId: 'T', text, options, engines: ['default'], expected: 'default', detectionOnly: false, ...more };
}

describe('what a stage returns against its type is a bug, which names the plugin', () => {
  const changed = (text: unknown): TextStage => ({ kind: 'change', plugin: 'mine', run: () => ({ text }) as never });
  const known = (translations: unknown): TextStage => ({ kind: 'answer', plugin: 'mine', run: () => ({ translations }) as never });
  const restored = (translations: unknown): TextStage => ({
    kind: 'change',
    plugin: 'mine',
    run: ({ text }) => ({ text, after: () => translations as never }),
  });

  test.each([
    ['a text for a list', changed('ab')],
    ['numbers for texts', changed([1, 2])],
    ['an object of translations', known({ 0: said('a'), 1: said('b'), length: 2 })],
    ['translations without a text', known([{}, undefined])],
    ['null for an unknown translation', known([null, said('b')])],
  ])('%s', (_name, stage) => {
    expect(() => passStages(workOf(['a', 'b']), [stage])).toThrow(/plugin mine gave/);
  });

  test.each([
    ['no list of restored translations', restored({})],
    ['a restored translation without a text', restored([said('a'), { text: undefined }])],
    ['a restored translation left out', restored([said('a'), undefined])],
  ])('%s', (_name, stage) => {
    const passed = passStages(workOf(['a', 'b']), [stage]) as PassedTexts;
    expect(() => passed.back([said('a'), said('b')], 'default')).toThrow(/plugin mine gave/);
  });
});

/** Prefixes each text with a word, and each translation with another. */
function marking(word: string, later = false): TextStage {
  return {
    kind: 'change',
    plugin: word,
    run({ text }) {
      const after = (all: readonly Translation[]) => all.map((one) => said(`${word}'${one.text}`));
      const changed = {
        text: text.map((one) => `${word}${one}`),
        after: (all: readonly Translation[]) => (later ? Promise.resolve(after(all)) : after(all)),
      };
      return later ? Promise.resolve(changed) : changed;
    },
  };
}

interface Memory extends Extract<TextStage, { kind: 'answer' }> {
  readonly asked: string[][];
  readonly learnt: unknown[];
}

function knowing(known: Readonly<Record<string, string>>, { later = false, spared = false } = {}): Memory {
  const asked: string[][] = [];
  const learnt: unknown[] = [];
  return {
    kind: 'answer',
    plugin: 'memory',
    asked,
    learnt,
    run({ text }) {
      asked.push([...text]);
      const translations = text.map((one) => (known[one] === undefined ? undefined : said(known[one])));
      const answer = {
        translations,
        spared,
        learn: (all: readonly Translation[], engine: string) => learnt.push([all.map((one) => one.text), engine]),
      };
      return later ? Promise.resolve(answer) : answer;
    },
  };
}

/** All the way there and back, with an engine that appends `e` to each text. */
async function through(text: readonly string[], stages: readonly TextStage[], more: Partial<TextWork> = {}) {
  const passed = await passStages(workOf(text, more), stages);
  if ('problem' in passed) return { refusal: passed };
  const asked = passed.work.text;
  const back = await passed.back(
    asked.map((one) => said(`${one}e`)),
    asked.length === 0 ? undefined : 'large',
  );
  return { asked, spared: passed.spared, back: 'problem' in back ? back : back.map((one) => one.text) };
}

describe.each([
  ['at once', false],
  ['by promises', true],
])('stages that answer %s', (_how, later) => {
  test('are called in order on the way to the engine, and in reverse on the way back', async () => {
    const { asked, back } = await through(['x', 'y'], [marking('a', later), marking('b', later)]);
    expect(asked).toEqual(['bax', 'bay']);
    expect(back).toEqual(["a'b'baxe", "a'b'baye"]);
  });

  test('leave unknown texts to the engine, in order and with duplicates, and learn them', async () => {
    const memory = knowing({ two: 'zwei' }, { later, spared: true });
    const { asked, back, spared } = await through(['one', 'two', 'one', 'three', 'two'], [memory]);
    expect(asked).toEqual(['one', 'one', 'three']);
    expect(back).toEqual(['onee', 'zwei', 'onee', 'threee', 'zwei']);
    expect(spared).toEqual([1, 4]);
    expect(memory.learnt).toEqual([[['onee', 'onee', 'threee'], 'large']]);
  });

  test('get the texts as changed by earlier stages, and their answers pass those on the way back', async () => {
    const memory = knowing({ ab: 'known' }, { later });
    const { asked, back } = await through(['b', 'c'], [marking('a', later), memory, marking('z', later)]);
    expect(memory.asked).toEqual([['ab', 'ac']]);
    expect(asked).toEqual(['zac']);
    expect(back).toEqual(["a'known", "a'z'zace"]);
    expect(memory.learnt).toEqual([[["z'zace"], 'large']]);
  });

  test('are not called, and learn nothing, after one that knows all texts', async () => {
    const first = knowing({ x: 'X' }, { later });
    const second = knowing({}, { later });
    expect(await through(['x', 'x'], [first, second, marking('never', later)])).toMatchObject({ asked: [], back: ['X', 'X'] });
    expect([second.asked, first.learnt, second.learnt]).toEqual([[], [], []]);
  });
});

test('that spare report positions in the caller’s texts, even if there are several', async () => {
  const first = knowing({ b: 'B' }, { spared: true });
  const second = knowing({ c: 'C', e: 'E' }, { spared: true });
  const third = knowing({ a: 'A' });
  const { asked, back, spared } = await through(['a', 'b', 'c', 'd', 'e'], [first, second, third]);
  expect([asked, back, spared]).toEqual([['d'], ['A', 'B', 'C', 'de', 'E'], [1, 2, 4]]);
});

test('without a result change nothing', async () => {
  const silent: TextStage[] = [
    { kind: 'change', plugin: 'p', run: () => undefined },
    { kind: 'answer', plugin: 'p', run: () => undefined },
    { kind: 'change', plugin: 'p', run: ({ text }) => ({ text }) },
  ];
  expect(await through(['x'], silent)).toEqual({ asked: ['x'], spared: [], back: ['xe'] });
});

test('for a detection only stages that change texts are called', async () => {
  const memory = knowing({ ax: 'known' });
  expect((await through(['x'], [marking('a'), memory], { detectionOnly: true })).asked).toEqual(['ax']);
  expect(memory.asked).toEqual([]);
});

test.each([false, true])(
  'a refusal on the way there or back ends the work, and nothing is learnt from work that fails (by a promise: %s)',
  async (later) => {
    const now = <T>(value: T): T | Promise<T> => (later ? Promise.resolve(value) : value);
    const memory = knowing({});
    const there: TextStage = { kind: 'change', plugin: 'p', run: () => now(REFUSAL) };
    expect(await through(['x'], [there, memory])).toEqual({ refusal: REFUSAL });
    expect(memory.asked).toEqual([]);
    const back: TextStage = { kind: 'change', plugin: 'p', run: ({ text }) => ({ text, after: () => now(REFUSAL) }) };
    expect(await through(['x'], [back, memory])).toMatchObject({ back: REFUSAL });
    expect([memory.asked, memory.learnt]).toEqual([[['x']], []]);
  },
);

test.each<[string, TextStage, string]>([
  ['texts', { kind: 'change', plugin: 'p', run: () => ({ text: [] }) }, 'plugin p gave 0 texts for 1'],
  [
    'translations of changed texts',
    { kind: 'change', plugin: 'p', run: ({ text }) => ({ text, after: (all) => [...all, ...all] }) },
    'plugin p gave 2 translations for 1',
  ],
  [
    'translations',
    { kind: 'answer', plugin: 'p', run: () => ({ translations: [undefined, undefined] }) },
    'plugin p gave 2 translations for 1',
  ],
])('a wrong number of %s is a bug of the plugin, which is named', async (_what, stage, message) => {
  await expect(through(['x'], [stage])).rejects.toThrow(message);
});
