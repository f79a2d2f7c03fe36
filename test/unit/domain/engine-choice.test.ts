// Which engines work may go to: known abilities narrow the list, and never to nothing.
import { describe, expect, test } from 'vitest';
import { detecting, thoseThatTake } from '../../../src/domain/engine-choice.ts';
import type { TakesGlossary } from '../../../src/domain/engine-choice.ts';
import { GLOSSARY_NOT_TAKEN } from '../../../src/domain/refusals.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';

const NAMES = ['one', 'two', 'three'];
const WORK = { ...NOTHING_CHOSEN, targetLang: 'DE' };
const DICTIONARY = { id: 'D', entries: { gateway: 'Tor' } };

function lacking(...names: string[]) {
  return { cannotDetect: (name: string) => names.includes(name) };
}

describe('work without a source language', () => {
  test.each([
    ['goes to all while nothing is known', {}, NAMES],
    ['leaves out those that detect none', lacking('one'), ['two', 'three']],
    ['goes to all if none is left, because one may detect again', lacking(...NAMES), NAMES],
  ])('%s', (_name, engine, expected) => {
    expect(detecting(NAMES, engine)).toEqual(expected);
  });

  test('gets the list itself if nobody is left out', () => {
    expect(detecting(NAMES, lacking())).toBe(NAMES);
  });
});

describe('work with a dictionary', () => {
  const taking =
    (...names: string[]): TakesGlossary =>
    (name) =>
      names.includes(name);

  test('keeps the list if all take it', () => {
    expect(thoseThatTake(DICTIONARY, WORK, NAMES, taking(...NAMES))).toBe(NAMES);
  });

  test('leaves out those that cannot, in order', () => {
    expect(thoseThatTake(DICTIONARY, WORK, NAMES, taking('three', 'one'))).toEqual(['one', 'three']);
  });

  test('is refused if none takes it, also by the only engine', () => {
    expect(thoseThatTake(DICTIONARY, WORK, NAMES, taking())).toBe(GLOSSARY_NOT_TAKEN);
    expect(thoseThatTake(DICTIONARY, WORK, undefined, taking())).toBe(GLOSSARY_NOT_TAKEN);
  });

  test('asks the only engine by its name', () => {
    expect(thoseThatTake(DICTIONARY, WORK, undefined, taking('default'))).toBeUndefined();
  });

  test('waits only for an engine that has to find out', async () => {
    const asked: TakesGlossary = (name) => (name === 'two' ? Promise.resolve(false) : true);
    const left = thoseThatTake(DICTIONARY, WORK, NAMES, asked);
    expect(left).toBeInstanceOf(Promise);
    expect(await left).toEqual(['one', 'three']);
  });
});
