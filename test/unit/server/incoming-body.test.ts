// A streamed body: what arrives while it waits is held up to its route's limit, and each way in which it ends early is told apart.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ByteReceiver } from '../../../src/core/byte-stream.ts';
import { HeldBodies } from '../../../src/server/listener.ts';
import type { HeldFor } from '../../../src/server/listener.ts';
import { IncomingBody } from '../../../src/server/incoming-body.ts';

const MAX = 1000;
const BODY_MS = 5000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Scene {
  readonly body: IncomingBody;
  /** What the listener is told to do, and what reaches the receiver. */
  readonly did: string[];
  readonly receiver: ByteReceiver;
  readonly add: (text: string) => boolean;
}

function scene(heldBodies = new HeldBodies(), bodyHeldFor: HeldFor = 'strangers'): Scene {
  const did: string[] = [];
  const body = new IncomingBody(undefined, {
    bodyMs: BODY_MS,
    bodyBytesMax: MAX,
    heldBodies,
    bodyHeldFor,
    bodyCrowdedOut: () => void did.push('crowded out'),
    pauseBody: () => void did.push('stop'),
    resumeBody: () => void did.push('read'),
    bodySilent: () => void did.push('silent'),
  });
  const receiver: ByteReceiver = {
    piece: (bytes) => void did.push(bytes.byteLength > 20 ? `${bytes.byteLength} bytes` : Buffer.from(bytes).toString()),
    end: () => void did.push('end'),
    fail: (why) => void did.push(why),
  };
  return { body, did, receiver, add: (text) => body.add(Buffer.from(text), true) };
}

test('what arrives after a pause is held, and passed on once and in order', () => {
  const { body, did, receiver, add } = scene();
  body.open(receiver);
  add('a');
  body.pause();
  for (const text of ['b', 'c', 'd']) expect(add(text)).toBe(true);
  expect(did).toEqual(['a', 'stop']);
  body.resume();
  add('e');
  body.finish();
  expect(did).toEqual(['a', 'stop', 'bcd', 'read', 'e', 'end']);
});

test.each(['before', 'after'])(
  'a body that is too long fails at once if a step took it %s; nothing of it is kept, and the rest is read',
  (when) => {
    const { body, did, receiver, add } = scene();
    if (when === 'before') {
      body.open(receiver);
      add('a');
      body.pause();
    } else body.holdBack();
    add('x'.repeat(MAX));
    if (when === 'before') expect(did).toEqual(['a', 'stop', 'read', 'too_long']);
    else {
      expect(add('x')).toBe(true);
      body.open(receiver);
      expect(did).toEqual(['stop', 'read', 'too_long']);
    }
    expect(add('more')).toBe(false);
    expect(body.finish()).toBe(false);
    vi.advanceTimersByTime(10 * BODY_MS);
    expect(did.at(-1)).toBe('too_long');
  },
);

test('a body as long as the route takes may be held as a whole', () => {
  const { body, did, receiver, add } = scene();
  body.holdBack();
  for (let i = 0; i < MAX / 100; i++) add('x'.repeat(100));
  body.finish();
  body.open(receiver);
  expect(did).toEqual(['stop', 'read', `${MAX} bytes`, 'end']);
});

test('a body whose receiver takes too long is late, one that does not arrive is silent', () => {
  const late = scene();
  late.body.open(late.receiver);
  late.body.pause();
  vi.advanceTimersByTime(BODY_MS);
  expect(late.did).toEqual(['stop', 'read', 'late']);
  const silent = scene();
  silent.body.open(silent.receiver);
  vi.advanceTimersByTime(BODY_MS);
  expect(silent.did).toEqual(['silent']);
});

test('bodies that nobody takes share their room: one that has none is not kept, and room is free again as soon as a step takes one', () => {
  const room = new HeldBodies({ strangers: 500, known: 500 });
  const [one, other, third] = [scene(room), scene(room), scene(room)];
  for (const { body } of [one, other, third]) body.holdBack();
  one.add('x'.repeat(300));
  other.add('x'.repeat(201));
  expect([one.did, other.did]).toEqual([['stop'], ['stop', 'crowded out']]);
  expect([other.add('x'), other.body.finish(), room.bytes.strangers]).toEqual([false, false, 300]);
  one.body.open(one.receiver);
  expect([one.did, room.bytes.strangers]).toEqual([['stop', '300 bytes', 'read'], 0]);
  third.add('x'.repeat(400));
  third.body.drop();
  expect([third.did, room.bytes.strangers]).toEqual([['stop'], 0]);
});

test('a body that is alone always has room, up to what its route takes', () => {
  const room = new HeldBodies({ strangers: 10, known: 10 });
  const { body, did, add } = scene(room);
  body.holdBack();
  for (let i = 0; i < 5; i++) add('x'.repeat(200));
  expect([did, room.bytes.strangers]).toEqual([['stop'], 1000]);
  // Too long for its route.
  add('x');
  expect(room.bytes.strangers).toBe(0);
});

test('strangers do not keep the bodies of known callers out', () => {
  const room = new HeldBodies({ strangers: 500, known: 500 });
  const [stranger, known] = [scene(room), scene(room, 'known')];
  for (const { body } of [stranger, known]) body.holdBack();
  stranger.add('x'.repeat(500));
  known.add('x'.repeat(500));
  expect([stranger.did, known.did, room.bytes]).toEqual([['stop'], ['stop'], { strangers: 500, known: 500 }]);
});
