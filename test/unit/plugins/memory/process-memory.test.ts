// The bytes in which one process remembers translations: a look-up finds what was stored last, whatever else was added, evicted or has expired.
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyBytes } from '../../../../src/plugins/memory/text-key.ts';
import { ProcessMemory } from '../../../../src/plugins/memory/process-memory.ts';
import type { Translation } from '../../../../src/domain/translation-options.ts';

const AGE_MAX_MS = 1000;
const key = new KeyBytes();
const noPause = (): Promise<void> => Promise.resolve();

function keyFor(text: string, team = 'T', options = 'o|'): KeyBytes {
  expect([key.begin(team, options), key.add(text)]).toEqual([true, true]);
  return key;
}

const said = (text: string, detectedSourceLanguage?: string): Translation => ({ text, detectedSourceLanguage });

const team = fc.constantFrom('1:A', '1:B');
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'a\0', '', 'aaaa', 'ä', '😀', 'b'.repeat(1025), `${'b'.repeat(1024)}c`) },
  fc.nat(300).map((n) => `number ${n}`),
);
const action = fc.oneof(
  { weight: 30, arbitrary: fc.record({ kind: fc.constant('set' as const), team, text, length: fc.nat(200), ageMs: fc.nat(900) }) },
  { weight: 30, arbitrary: fc.record({ kind: fc.constant('get' as const), team, text }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(400) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('drop old' as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('drop team' as const), team }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
);

describe.each([
  ['room for all', 2 ** 22],
  ['room for a few', 2 ** 14],
])('over random actions, with %s', (_room, bytesMax) => {
  test('a look-up finds what was stored last, unless it has expired, and bytes and texts are counted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 300, size: 'max' }), async (actions) => {
        const memory = new ProcessMemory({ bytesMax, ageMaxMs: AGE_MAX_MS });
        const model = new Map<string, { readonly team: string; readonly said: Translation; readonly madeAtMs: number }>();
        let nowMs = 10_000;
        for (const [number, one] of actions.entries()) {
          switch (one.kind) {
            case 'set': {
              const made = said(`${number} ${'ü'.repeat(one.length)}`, [undefined, 'EN', 'PT-BR'][number % 3]);
              memory.set(keyFor(one.text, one.team), made, nowMs - one.ageMs);
              model.set(one.team + one.text, { team: one.team, said: made, madeAtMs: nowMs - one.ageMs });
              break;
            }
            case 'get': {
              const known = model.get(one.team + one.text);
              const young = known !== undefined && nowMs - known.madeAtMs < AGE_MAX_MS ? known.said : undefined;
              const found = memory.get(keyFor(one.text, one.team), nowMs);
              if (found !== undefined || bytesMax === 2 ** 22) expect(found).toEqual(young);
              break;
            }
            case 'pass':
              nowMs += one.ms;
              break;
            case 'drop old':
              await memory.dropUntil(nowMs - AGE_MAX_MS, noPause);
              for (const [name, { madeAtMs }] of model) if (nowMs - madeAtMs >= AGE_MAX_MS) model.delete(name);
              if (bytesMax === 2 ** 22) expect(memory.texts).toBe(model.size);
              break;
            case 'drop team':
              await memory.dropTeam(one.team, noPause);
              for (const [name, entry] of model) if (entry.team === one.team) model.delete(name);
              break;
            case 'clear':
              memory.clear();
              model.clear();
          }
          expect(memory.bytes).toBeLessThanOrEqual(bytesMax);
          expect(memory.texts).toBeLessThanOrEqual(model.size);
          expect(memory.bytes > 0).toBe(memory.texts > 0);
        }
        await memory.dropUntil(nowMs, noPause);
        expect([memory.texts, memory.bytes]).toEqual([0, 0]);
      }),
      { numRuns: 60 },
    );
  });
});

test('when there is no more room, what is looked up is kept, and the rest is evicted', () => {
  const memory = new ProcessMemory({ bytesMax: 2 ** 16, ageMaxMs: AGE_MAX_MS });
  memory.set(keyFor('never asked for'), said('goes'), 0);
  memory.set(keyFor('asked for'), said('kept'), 0);
  for (let i = 0; i < 5000; i++) {
    memory.set(keyFor(`number ${i}`), said(`said ${i}`), 0);
    expect(memory.get(keyFor('asked for'), 0)).toEqual(said('kept'));
  }
  expect(memory.get(keyFor('never asked for'), 0)).toBeUndefined();
  expect(memory.get(keyFor('number 4999'), 0)).toEqual(said('said 4999'));
  expect(memory.texts).toBeGreaterThan(300);
});

test('a translation larger than a segment is not remembered, and the older one is forgotten', () => {
  const memory = new ProcessMemory({ bytesMax: 2 ** 14, ageMaxMs: AGE_MAX_MS });
  memory.set(keyFor('x'), said('short'), 0);
  memory.set(keyFor('x'), said('ü'.repeat(1000)), 0);
  expect([memory.get(keyFor('x'), 0), memory.texts]).toEqual([undefined, 0]);
  memory.set(keyFor('y'), said('u'.repeat(900)), 0);
  expect(memory.get(keyFor('y'), 0)).toEqual(said('u'.repeat(900)));
});

test('too long or too many language codes, and half surrogate pairs, are not remembered', () => {
  const memory = new ProcessMemory({ bytesMax: 2 ** 22, ageMaxMs: AGE_MAX_MS });
  memory.set(keyFor('long'), said('x', 'a code that is long'), 0);
  memory.set(keyFor('half'), said('\ud800'), 0);
  expect(memory.texts).toBe(0);
  for (let i = 0; i < 2000; i++) memory.set(keyFor(`${i}`), said(`${i}`, `l${i}`), 0);
  expect(memory.texts).toBeLessThan(1100);
  expect(memory.get(keyFor('500'), 0)).toEqual(said('500', 'l500'));
});

describe('keys', () => {
  const part = fc.oneof(fc.constantFrom('', 'a', 'a\0', 'b', 'ab', '\0', 'ä', '\u00ff'), fc.string({ unit: 'grapheme', maxLength: 2000 }));
  const wordsOf = (options: string, one: string): string => {
    keyFor(one, '1:T', `${options.length}:${options}`);
    return Buffer.from(key.words.buffer, 0, key.length).toString('hex');
  };

  test('of different texts or options differ, also if long ones are replaced by their digests', () => {
    fc.assert(
      fc.property(part, part, part, part, (options, one, otherOptions, other) => {
        expect(wordsOf(options, one) === wordsOf(otherOptions, other)).toBe(options === otherOptions && one === other);
      }),
    );
  });

  test('of texts that differ only in padding bytes differ', () => {
    const texts = ['a', 'a\0', 'a\0\0', 'a\0\0\0', 'a\0\0\0\0'];
    expect(new Set(texts.map((one) => wordsOf('', one))).size).toBe(texts.length);
  });

  test('of a long text differs from that of a text that looks like its digest', () => {
    const long = 'x'.repeat(2000);
    const own = wordsOf('', long);
    const digest = hash('sha256', long, 'base64url');
    for (let mark = 0; mark < 256; mark++) expect(wordsOf('', String.fromCharCode(mark) + digest)).not.toBe(own);
    expect(wordsOf('', digest)).not.toBe(own);
  });

  test('do not exist for texts that UTF-8 cannot represent', () => {
    expect(key.begin('\ud800', '')).toBe(false);
    expect(key.begin('T', '\udc00')).toBe(false);
    expect(key.begin('T'.repeat(1025), '')).toBe(false);
    expect(key.begin('T', '')).toBe(true);
    expect(key.add('\ud800')).toBe(false);
  });
});
