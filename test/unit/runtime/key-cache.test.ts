// The key cache: the owners of keys, and the hint that a key needs the caller's address.
import { expect, test } from 'vitest';
import type { KeyDigest, KeyOwner } from '../../../src/domain/api-key.ts';
import { LruKeyCache } from '../../../src/runtime/key-cache.ts';

const OWNER: KeyOwner = { keyId: 'k', teamId: 't', mode: 'live' };

function cacheOf(known: readonly KeyDigest[]) {
  const asked: KeyDigest[] = [];
  const directory = { find: (digest: KeyDigest) => (asked.push(digest), known.includes(digest) ? OWNER : undefined) };
  return { cache: new LruKeyCache({ directory, keysMax: 10, now: () => 1, onLookup: () => undefined }), asked };
}

test('an owner for whom the store has requested the address is marked until it is forgotten; others are not', async () => {
  const { cache, asked } = cacheOf(['a', 'b']);
  for (const digest of ['a', 'b']) await cache.find(digest);
  cache.noteWanted('a', 'addressWanted');
  expect(cache.peek('a')).toEqual({ ...OWNER, addressWanted: true });
  cache.noteWanted('a', 'scopeWanted');
  expect(cache.peek('a')).toEqual({ ...OWNER, addressWanted: true, scopeWanted: true });
  expect(cache.peek('b')).toEqual(OWNER);
  cache.forget('a');
  expect(await cache.find('a')).toEqual(OWNER);
  expect(asked).toEqual(['a', 'b', 'a']);
});

test('a hint for a key that is not cached is ignored', async () => {
  const { cache } = cacheOf([]);
  await cache.find('x');
  cache.noteWanted('x', 'addressWanted');
  cache.noteWanted('y', 'scopeWanted');
  expect([cache.peek('x'), cache.peek('y')]).toEqual(['unknown', undefined]);
});
