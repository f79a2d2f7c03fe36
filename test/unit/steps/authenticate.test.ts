// A key is recognized by its digest, which is cached for repeated keys without changing any answer.
import { identifyStep } from '../../../src/steps/authenticate.ts';
import { beforeEach, expect, test } from 'vitest';
import { Exchange } from '../../../src/core/exchange.ts';
import type { Sink } from '../../../src/core/exchange.ts';
import { compileRoute } from '../../../src/core/route.ts';
import { digestOf } from '../../../src/domain/api-key.ts';
import type { KeyDigest, KeyOwner } from '../../../src/domain/api-key.ts';
import { credentialReader } from '../../../src/domain/api-key.ts';
import { keyDigestSlot, keyOwnerSlot } from '../../../src/domain/slots.ts';

const KEY = `la_live_${'k'.repeat(40)}`;
const OWNER: KeyOwner = { keyId: 'K', teamId: 'T', mode: 'live' };
const SINK: Sink = { send: () => 'written', stream: () => undefined, incoming: () => undefined, remoteAddress: () => '' };

let known: Map<KeyDigest, KeyOwner | 'unknown'>;
let step: ReturnType<typeof identifyStep>;

beforeEach(() => {
  known = new Map([[digestOf(KEY), OWNER]]);
  const cache = {
    peek: (digest: KeyDigest) => known.get(digest),
    find: () => undefined,
    noteWanted: () => undefined,
    forget: () => undefined,
  };
  step = identifyStep(credentialReader(['Vendor-Auth-Key']), cache);
});

function identified(headers: Record<string, string>, atMs = 0) {
  const route = compileRoute({ method: 'GET', path: '/', takesBody: false, steps: [] }, 'test');
  const x = new Exchange('01', { method: 'GET', path: '/', query: '', headers }, SINK, route, atMs);
  const refusal = step.run(x);
  return { refusal, owner: x.get(keyOwnerSlot), digest: x.get(keyDigestSlot) };
}

test.each([0, 1, 999, 1000, 5000])('again after %d ms it is the same key of the same owner', (laterMs) => {
  const authorization = `Bearer ${KEY}`;
  const first = identified({ authorization });
  expect(first).toEqual({ refusal: undefined, owner: OWNER, digest: digestOf(KEY) });
  identified({ authorization }, laterMs);
  expect(identified({ authorization }, laterMs)).toEqual(first);
});

test('what the cache has learnt meanwhile is used at once', () => {
  const authorization = `Bearer ${KEY}`;
  for (let time = 0; time < 3; time++) identified({ authorization });
  known.delete(digestOf(KEY));
  expect(identified({ authorization })).toEqual({ refusal: undefined, owner: undefined, digest: digestOf(KEY) });
  known.set(digestOf(KEY), 'unknown');
  expect(identified({ authorization }).refusal).toMatchObject({ kind: 'problem' });
});

test('more keys than the cache of digests holds are each recognized, repeatedly', () => {
  const keys = Array.from({ length: 1500 }, (_, index) => `la_live_${String(index).padStart(40, '0')}`);
  for (const key of keys) known.set(digestOf(key), { ...OWNER, keyId: key });
  for (let round = 0; round < 3; round++) {
    for (const key of keys) expect(identified({ authorization: `Bearer ${key}` }).owner?.keyId).toBe(key);
  }
});

test('a malformed value stays malformed, and the dedicated header is no fallback', () => {
  const headers = { authorization: `Basic ${KEY}`, 'vendor-auth-key': KEY };
  for (let time = 0; time < 3; time++)
    expect(identified(headers).refusal).toMatchObject({ kind: 'problem', problem: { code: 'unauthorized' } });
  expect(identified({ 'vendor-auth-key': KEY }).owner).toEqual(OWNER);
});
