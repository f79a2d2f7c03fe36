// Which texts are scopes, and which scopes a refused key is missing.
import { expect, test } from 'vitest';
import { CLOSED, forwardScope, isScope, missingScopes, SCOPES } from '../../../src/domain/scopes.ts';

test('the fixed scopes and those of forward routes are scopes, nothing else', () => {
  expect(SCOPES.every(isScope)).toBe(true);
  for (const text of ['forward:voices', 'forward:a', 'forward:0-_', `forward:${'a'.repeat(64)}`]) expect(isScope(text)).toBe(true);
  for (const text of ['', 'translate', 'translate:', 'Translate:text', 'usage:write', 'forward', 'forward:', 'forward:A', 'forward:-a'])
    expect(isScope(text)).toBe(false);
  for (const text of [`forward:${'a'.repeat(65)}`, 'forward:a b', 'usage:read ', 'usage:read\n']) expect(isScope(text)).toBe(false);
});

test('a route that no scope opens misses none', () => {
  expect(missingScopes(forwardScope('voices'))).toEqual(['forward:voices']);
  expect(missingScopes(CLOSED)).toEqual([]);
});
