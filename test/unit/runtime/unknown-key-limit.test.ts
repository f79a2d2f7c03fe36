// The limit of unknown keys per address and minute, in bounded memory.
import { expect, test } from 'vitest';
import { AddressLimit } from '../../../src/runtime/unknown-key-limit.ts';

test('an address is refused beyond its limit, until a minute after its first unknown key, and no other is', () => {
  let nowMs = 5000;
  const limit = new AddressLimit({ perMinute: 3, now: () => nowMs });
  for (let i = 0; i < 3; i++) {
    expect(limit.reached('192.0.2.1')).toBe(false);
    limit.add('192.0.2.1');
  }
  expect([limit.reached('192.0.2.1'), limit.reached('192.0.2.2')]).toEqual([true, false]);
  nowMs += 59_999;
  expect(limit.reached('192.0.2.1')).toBe(true);
  nowMs += 1;
  expect(limit.reached('192.0.2.1')).toBe(false);
  limit.add('192.0.2.1');
  expect(limit.reached('192.0.2.1')).toBe(false);
});

test('an IPv6 /64 counts as one address', () => {
  const limit = new AddressLimit({ perMinute: 2, now: () => 0 });
  limit.add('2001:db8:1:2::1');
  limit.add('2001:db8:1:2:ffff::');
  const reached = ['2001:db8:1:2:3:4:5:6', '2001:db8:1:3::1', '2001:db8:1::2', '2001:db8::1:2'].map((address) => limit.reached(address));
  expect(reached).toEqual([true, false, false, false]);
});

test('ten thousand addresses are kept, and the oldest is dropped first', () => {
  const limit = new AddressLimit({ perMinute: 1, now: () => 0 });
  for (let i = 0; i <= 10_000; i++) limit.add(`address ${i}`);
  expect([limit.reached('address 0'), limit.reached('address 1'), limit.reached('address 10000')]).toEqual([false, true, true]);
});
