// What a store wants of a key's requests is read once it is known to be wanted, and asked for once.
import { expect, test } from 'vitest';
import { wantedBy } from '../../../src/domain/wanted-facts.ts';

test.each([
  ['address_wanted', {}, 'addressWanted'],
  ['address_wanted', { scope: 'usage:read' }, 'addressWanted'],
  ['address_wanted', { address: '' }, undefined],
  ['scope_wanted', { address: '10.0.0.1' }, 'scopeWanted'],
  // A route that no scope opens sends an empty one.
  ['scope_wanted', { scope: '' }, undefined],
  ['scope_missing', {}, undefined],
  ['admitted', {}, undefined],
] as const)('after %s to a request with %o, %s is sent in addition', (kind, carried, wanted) => {
  expect(wantedBy(kind, carried)).toBe(wanted);
});
