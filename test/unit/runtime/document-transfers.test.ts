// Files on their way: few at a time in a process, a quarter of them of one team, and of senders without a key a quarter of one address.
import { expect, test } from 'vitest';
import { LimitedTransfers } from '../../../src/runtime/document-load.ts';
import type { TransferOwner } from '../../../src/ports/documents.ts';

test('an owner has at most a quarter, and each that ends makes room', () => {
  const transfers = new LimitedTransfers();
  const begun = (owner: TransferOwner, count: number) => Array.from({ length: count }, () => transfers.begin(owner)).filter((end) => !!end);
  const ends = ['a', 'b', 'c', 'd'].flatMap((teamId) => {
    const own = begun({ teamId }, 20);
    expect(own).toHaveLength(4);
    return own;
  });
  expect(begun({ teamId: 'e' }, 1)).toEqual([]);
  ends[0]!();
  expect(begun({ teamId: 'b' }, 1)).toEqual([]);
  expect(begun({ teamId: 'e' }, 2)).toHaveLength(1);
});

test('senders who are not known have half of the places, and an address a quarter of those', () => {
  const transfers = new LimitedTransfers();
  const begun = (owner: TransferOwner, count: number) => Array.from({ length: count }, () => transfers.begin(owner)).filter((end) => !!end);
  // Within one network of IPv6 an address can be changed freely.
  expect(begun({ address: '2001:db8::1' }, 2)).toHaveLength(2);
  expect(begun({ address: '2001:db8::2' }, 1)).toEqual([]);
  const others = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map((address) => begun({ address }, 8).length);
  expect(others).toEqual([2, 2, 2, 0]);
  expect(begun({ teamId: 'a' }, 8)).toHaveLength(4);
});
