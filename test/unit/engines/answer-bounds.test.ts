// The bounds of an engine's answer: its bytes by what the request can need, its JSON by depth and values, at both layers of openai.
import { describe, expect, test } from 'vitest';
import { Pool } from '../../../src/engines/http1/pool.ts';
import { deepLProtocol } from '../../../src/engines/protocols/deepl-protocol.ts';
import { jsonValueOf, LIST_BOUNDS } from '../../../src/engines/protocols/json-call.ts';
import { translationsIn } from '../../../src/engines/protocols/openai-protocol.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { EngineResponse, EngineWire } from '../../../src/ports/engine.ts';
import { work } from './engine-work.ts';

const answer = (body: string, status = 200): EngineResponse => ({ status, body: Buffer.from(body) });
const deep = '['.repeat(100) + ']'.repeat(100);
const many = `[${Array.from({ length: 20_000 }, () => '0').join(',')}]`;

test('an answer may be 64 KiB and a multiple of its call long, never more than the maximum; a list the maximum', () => {
  const limits = { timeout_ms: 1000, connections_max: 1, queue_max: 1, response_bytes_max: 1_000_000, response_bytes_factor: 10 };
  const pool = new Pool(new URL('http://127.0.0.1:1'), limits);
  expect([0, 1, 100, 1_000_000].map((bytes) => pool.responseBytesFor(bytes))).toEqual([1_000_000, 65_546, 66_536, 1_000_000]);
});

describe('is too large', () => {
  test.each([
    ['too deep', `{"translations":[],"x":${deep}}`],
    ['of too many values', `{"translations":[],"x":${many}}`],
  ])('%s', (_name, body) => {
    expect(jsonValueOf(answer(body))).toBe('too_large');
  });
});

test('lists of pairs may have more values: 150 languages with each other', () => {
  const codes = Array.from({ length: 150 }, (_, i) => i.toString(36));
  const list = answer(JSON.stringify(codes.map((code) => ({ code, targets: codes }))));
  expect(jsonValueOf(list)).toBe('too_large');
  expect(jsonValueOf(list, LIST_BOUNDS)).toMatchObject({ value: expect.any(Array) as unknown });
});

test.each([
  ['depth', deep],
  ['values', many],
  ['depth behind a fence with a quote', `\`\`\`"\n${deep}\n\`\`\``],
])('of a language model, also within its text: %s', (_name, inner) => {
  // But for the bounds it would be right: of two members with one name, the last one counts.
  const rightBut = (what: string): string => `{"t0":${what},"t0":"Hallo"}`;
  const content = inner.startsWith('`') ? inner.replace(deep, rightBut(deep)) : rightBut(inner);
  const given = { choices: [{ finish_reason: 'stop', message: { content } }] };
  expect(translationsIn(given, ['Hello'], { ...NOTHING_CHOSEN, targetLang: 'DE' })).toBe('wrong_shape');
});

test('legitimate answers are none of these: 50,000 characters, escaped, three times as long', () => {
  const text = '\\u4f60'.repeat(3000);
  const body = `{"translations":[${Array.from({ length: 50 }, () => `{"text":"${text}"}`).join(',')}]}`;
  expect(jsonValueOf(answer(body))).toMatchObject({ value: { translations: { length: 50 } } });
});

test('an error body that repeats half of what is looked for is searched in linear time', async () => {
  const body = 'target_lang '.repeat(100_000);
  const wire = { call: () => Promise.resolve(answer(body, 400)) } as unknown as EngineWire;
  const before = process.cpuUsage();
  expect(await deepLProtocol.attempt(work(), wire, { api_key: 'k', files: true })).toMatchObject({ failure: 'status' });
  const searched = process.cpuUsage(before).user;
  const start = process.cpuUsage();
  for (let i = 0; i < 100; i++) expect(/never found/.test(body)).toBe(false);
  expect(searched).toBeLessThan(process.cpuUsage(start).user + 5000);
});
