// Several pieces of work for one request: a caller who leaves cancels each that is still running, once.
import { expect, test } from 'vitest';
import { Canceller, SharedCancellation } from '../../../src/core/exchange.ts';

test('each share is notified, except those that have removed their listener', () => {
  const whole = new Canceller();
  const shared = new SharedCancellation(whole);
  const [first, second, third] = [shared.share(), shared.share(), shared.share()];
  const notified: string[] = [];
  first.onCancel(() => notified.push('first'));
  second.onCancel(() => notified.push('second'));
  third.onCancel(() => notified.push('third'));
  second.onCancel(undefined);
  expect(first.cancelled).toBe(false);
  whole.cancel();
  expect([notified, first.cancelled]).toEqual([['first', 'third'], true]);
});

test('a share that listens again has one listener, and may remove it when it is notified', () => {
  const whole = new Canceller();
  const share = new SharedCancellation(whole).share();
  const notified: string[] = [];
  share.onCancel(() => notified.push('earlier'));
  share.onCancel(() => {
    notified.push('later');
    share.onCancel(undefined);
  });
  whole.cancel();
  whole.cancel();
  expect(notified).toEqual(['later']);
});
