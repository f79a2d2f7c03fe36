// The cache of one process: what is in it, what it drops, and what it never exceeds.
import { expect, test } from 'vitest';
import { ProcessMemory } from '../../../../src/plugins/memory/text-memory.ts';

const AGE_MAX_MS = 1000;
const said = (text: string) => ({ text, detectedSourceLanguage: 'EN' });
const made = (text: string, madeAtMs = 0, teamId = 'T') => ({ teamId, translation: said(text), madeAtMs });

test('an entry is found until it has its age, and then it is gone', () => {
  const memory = new ProcessMemory({ bytesMax: 2 ** 20, ageMaxMs: AGE_MAX_MS });
  memory.set('a', made('x', 5));
  memory.set('a', made('y', 10));
  expect([memory.get('a', 10 + AGE_MAX_MS - 1), memory.get('b', 10), memory.texts]).toEqual([said('y'), undefined, 1]);
  expect([memory.get('a', 10 + AGE_MAX_MS), memory.texts, memory.bytes]).toEqual([undefined, 0, 0]);
});

test('it stays within its bytes, drops what was used least recently, and takes nothing that is larger than itself', () => {
  const bytesMax = 2 ** 14;
  const memory = new ProcessMemory({ bytesMax, ageMaxMs: AGE_MAX_MS });
  for (let i = 0; i < 1000; i++) {
    memory.set(`k${i}`, made(`${i}`.repeat(i % 50)));
    expect(memory.get('k0', 0)).toEqual(said(''));
    expect(memory.bytes).toBeLessThanOrEqual(bytesMax);
  }
  expect([memory.get('k1', 0), memory.get('k999', 0)]).toEqual([undefined, said('999'.repeat(49))]);
  const { texts } = memory;
  memory.set('k999', made('ü'.repeat(bytesMax)));
  expect([memory.get('k999', 0), memory.texts]).toEqual([undefined, texts - 1]);
});

test('dropping a team, or what is old, pauses now and then and leaves the rest, whatever is used meanwhile', async () => {
  const memory = new ProcessMemory({ bytesMax: 2 ** 26, ageMaxMs: AGE_MAX_MS });
  for (let i = 0; i < 30_000; i++) memory.set(`k${i}`, made('x', i % 3, i % 2 === 0 ? 'A' : 'B'));
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses++;
    for (let i = 0; i < 30_000; i += 7) memory.get(`k${i}`, 0);
    memory.set('k1', made('x', 1, 'B'));
    return Promise.resolve();
  };
  await memory.dropTeam('A', pause);
  expect([memory.texts, memory.get('k1', 0), memory.get('k2', 0), pauses]).toEqual([15_000, said('x'), undefined, 3]);
  await memory.dropUntil(0, pause);
  expect([memory.texts, memory.get('k1', 0), memory.get('k3', 0)]).toEqual([10_000, said('x'), undefined]);
  memory.clear();
  expect([memory.texts, memory.bytes]).toEqual([0, 0]);
});

test('dropping looks through what is in the cache, and not through all that ever was', async () => {
  const memory = new ProcessMemory({ bytesMax: 2 ** 14, ageMaxMs: AGE_MAX_MS });
  for (let i = 0; i < 30_000; i++) memory.set(`k${i}`, made('x'));
  let pauses = 0;
  await memory.dropTeam('T', () => Promise.resolve(void pauses++));
  expect([memory.texts, pauses]).toEqual([0, 0]);
});
