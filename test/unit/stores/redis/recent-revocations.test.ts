// Recent revocations are kept once each, for an hour, up to a limit.
import { expect, test } from 'vitest';
import { RecentRevocations } from '../../../../src/stores/redis/recent-revocations.ts';

const HOUR_MS = 3_600_000;

test('they are kept for an hour after they were last met', () => {
  let nowMs = 0;
  const recent = new RecentRevocations(() => nowMs);
  recent.note({ teamId: 'T1', keyId: 'K1' });
  nowMs = HOUR_MS / 2;
  recent.note({ teamId: 'T2', keyId: 'K2' });
  recent.note({ teamId: 'T1', keyId: 'K1' });
  nowMs = HOUR_MS * 1.5;
  expect(recent.all()).toEqual([
    { teamId: 'T2', keyId: 'K2' },
    { teamId: 'T1', keyId: 'K1' },
  ]);
  nowMs++;
  expect(recent.all()).toEqual([]);
});

test('there are at most ten thousand, and the oldest is dropped', () => {
  const recent = new RecentRevocations(() => 0);
  for (let i = 0; i <= 10_000; i++) recent.note({ teamId: 'T', keyId: `K${i}` });
  const kept = recent.all().map(({ keyId }) => keyId);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([10_000, 'K1', 'K10000']);
});
