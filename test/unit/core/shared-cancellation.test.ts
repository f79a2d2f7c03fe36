// Several pieces of work for one request: a caller who leaves cancels each that is still running, once.
import { expect, test } from 'vitest';
import type { Cancellation } from '../../../src/core/exchange.ts';
import { SharedCancellation } from '../../../src/core/exchange.ts';

/** Like an exchange: one listener, which runs at most once. */
class Whole implements Cancellation {
  cancelled = false;
  listener: (() => void) | undefined = undefined;

  onCancel(listener: (() => void) | undefined): void {
    this.listener = listener;
  }

  cancel(): void {
    this.cancelled = true;
    const { listener } = this;
    this.listener = undefined;
    listener?.();
  }
}

test('each share is notified, except those that have removed their listener', () => {
  const whole = new Whole();
  const shared = new SharedCancellation(whole);
  const [first, second, third] = [shared.share(), shared.share(), shared.share()];
  const told: string[] = [];
  first.onCancel(() => told.push('first'));
  second.onCancel(() => told.push('second'));
  third.onCancel(() => told.push('third'));
  second.onCancel(undefined);
  expect(first.cancelled).toBe(false);
  whole.cancel();
  expect([told, first.cancelled]).toEqual([['first', 'third'], true]);
});

test('a share that listens again has one listener, and may remove it when it is notified', () => {
  const whole = new Whole();
  const share = new SharedCancellation(whole).share();
  const told: string[] = [];
  share.onCancel(() => told.push('earlier'));
  share.onCancel(() => {
    told.push('later');
    share.onCancel(undefined);
  });
  whole.cancel();
  whole.cancel();
  expect(told).toEqual(['later']);
});

test('the whole has no listener when no share has one', () => {
  const whole = new Whole();
  const shared = new SharedCancellation(whole);
  const [first, second] = [shared.share(), shared.share()];
  first.onCancel(() => undefined);
  second.onCancel(() => undefined);
  first.onCancel(undefined);
  expect(whole.listener).toBeDefined();
  second.onCancel(undefined);
  expect(whole.listener).toBeUndefined();
});
