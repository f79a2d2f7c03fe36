// When a replica is set aside, for how long, what tries it again, and what brings it back.
import { describe, expect, test } from 'vitest';
import { retryAfterMs, ReplicaStanding } from '../../../src/engines/replica.ts';
import type { StandingChange } from '../../../src/engines/replica.ts';
import type { AttemptFailure, UnusableAttempt } from '../../../src/ports/engine.ts';

const WALL_MS = Date.UTC(2026, 10, 22, 12);

class Scene {
  readonly standing = new ReplicaStanding();
  nowMs = 0;
  lone = false;

  begin(): number {
    return this.standing.begin(() => this.nowMs);
  }

  fail(failure: AttemptFailure, more: Partial<UnusableAttempt> & { ticket?: number; deadlineShare?: number } = {}): StandingChange {
    const { ticket = this.begin(), deadlineShare = 1, ...attempt } = more;
    const terms = { nowMs: this.nowMs, wallMs: WALL_MS + this.nowMs, deadlineShare, lone: this.lone };
    return this.standing.failed(ticket, { kind: 'unusable', failure, ...attempt }, terms);
  }

  succeed(ticket = this.begin()): StandingChange {
    return this.standing.usable(ticket);
  }

  /** A scene in which it is set aside and its time is over. */
  static due(): Scene {
    const scene = new Scene();
    scene.fail('connect');
    scene.nowMs = scene.standing.untilMs;
    return scene;
  }

  /** The time for which it is set aside now, in milliseconds. */
  get forMs(): number {
    return this.standing.untilMs - this.nowMs;
  }
}

describe('a replica is set aside', () => {
  test.each<AttemptFailure>(['timeout', 'reset', 'status', 'too_large', 'not_json', 'wrong_shape', 'cut_off', 'engine_quota'])(
    'by three failures in a row: %s',
    (failure) => {
      const scene = new Scene();
      expect([scene.fail(failure), scene.fail(failure), scene.succeed()]).toEqual([undefined, undefined, undefined]);
      expect([scene.fail(failure), scene.fail('reset'), scene.standing.aside]).toEqual([undefined, undefined, false]);
      expect([scene.fail(failure), scene.standing.aside, scene.forMs]).toEqual(['set aside', true, 1000]);
    },
  );

  test('at once if it refuses connections, or answers 429 or 503', () => {
    expect(new Scene().fail('connect')).toBe('set aside');
    for (const status of [429, 503]) expect(new Scene().fail('status', { status })).toBe('set aside');
    for (const status of [400, 401, 404, 500, 502, 504]) expect(new Scene().fail('status', { status })).toBeUndefined();
  });

  test.each<AttemptFailure>(['cancelled', 'busy', 'unsupported_pair', 'no_detection', 'file_refused', 'internal'])(
    'never by %s',
    (failure) => {
      const scene = new Scene();
      for (let i = 0; i < 10; i++) expect(scene.fail(failure)).toBeUndefined();
      // Nor does it interrupt a row of failures.
      scene.fail('timeout');
      scene.fail('timeout');
      scene.fail(failure);
      expect(scene.fail('timeout')).toBe('set aside');
    },
  );

  test('by answers that make the adapter throw', () => {
    const scene = new Scene();
    const broken = (): StandingChange => scene.fail('internal', { status: 502 });
    expect([broken(), broken(), broken()]).toEqual([undefined, undefined, 'set aside']);
  });

  test('by timeouts with shorter deadlines, when they add up to three', () => {
    const scene = new Scene();
    const fifth = (): StandingChange => scene.fail('timeout', { deadlineShare: 0.2 });
    for (let i = 0; i < 14; i++) expect(fifth()).toBeUndefined();
    expect(fifth()).toBe('set aside');
  });

  test('not while it is the only one, but at its next failure once it no longer is', () => {
    const scene = new Scene();
    scene.lone = true;
    for (let i = 0; i < 10; i++) expect(scene.fail('connect')).toBeUndefined();
    expect(scene.standing.aside).toBe(false);
    scene.lone = false;
    expect(scene.fail('timeout')).toBe('set aside');
  });
});

describe('it is set aside for', () => {
  test('a second, doubled each time in a row up to 30, and a second again after its return', () => {
    const scene = new Scene();
    scene.fail('connect');
    const times: number[] = [];
    for (let i = 0; i < 8; i++) {
      times.push(scene.forMs);
      scene.nowMs = scene.standing.untilMs;
      expect(scene.fail('timeout')).toBeUndefined();
    }
    expect(times).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    scene.nowMs = scene.standing.untilMs;
    expect(scene.succeed()).toBe('back');
    scene.fail('connect');
    expect(scene.forMs).toBe(1000);
  });

  test.each([
    ['3', 3000],
    ['30', 30_000],
    ['86400', 30_000],
    ['Sun, 22 Nov 2026 12:00:07 GMT', 7000],
    ['Sun, 22 Nov 2026 13:00:00 GMT', 30_000],
    // Not in the future: ignored.
    ['0', 1000],
    ['Sun, 22 Nov 2026 11:59:59 GMT', 1000],
    ['soon', 1000],
    ['', 1000],
    ['-5', 1000],
  ])('the time in Retry-After: %s', (retryAfter, forMs) => {
    const scene = new Scene();
    scene.fail('status', { status: 503, retryAfter });
    expect(scene.forMs).toBe(forMs);
  });

  test('the time of a Retry-After, which does not end the row', () => {
    const scene = new Scene();
    scene.fail('status', { status: 429, retryAfter: '5' });
    scene.nowMs += 5000;
    scene.fail('timeout');
    expect(scene.forMs).toBe(2000);
  });

  test('no other form of Retry-After', () => {
    expect(['1.5', '1e3', '0x10', ' 5', '5 s'].map((value) => retryAfterMs(value, WALL_MS))).toEqual(Array(5).fill(undefined));
  });
});

describe('while it is set aside', () => {
  test('it is due for one attempt when its time is over, not before, and not for another', () => {
    const scene = new Scene();
    scene.fail('connect');
    scene.nowMs = 999;
    expect(scene.standing.isDue(scene.nowMs)).toBe(false);
    scene.nowMs = 1000;
    expect(scene.standing.isDue(scene.nowMs)).toBe(true);
    scene.begin();
    expect(scene.standing.isDue(scene.nowMs)).toBe(false);
    scene.nowMs = 1_000_000;
    expect(scene.standing.isDue(scene.nowMs)).toBe(false);
  });

  test('a successful trial brings it back', () => {
    const scene = Scene.due();
    expect([scene.succeed(), scene.standing.aside]).toEqual(['back', false]);
  });

  test('attempts that began before it was set aside neither bring it back nor prolong it', () => {
    const scene = new Scene();
    const [slow, late, later] = [scene.begin(), scene.begin(), scene.begin()];
    scene.fail('status', { status: 429 });
    scene.nowMs = 500;
    expect([scene.succeed(slow), scene.standing.aside]).toEqual([undefined, true]);
    scene.fail('timeout', { ticket: late });
    expect([scene.standing.untilMs, scene.standing.times]).toEqual([1000, 1]);
    // Nor do they count after its return.
    scene.nowMs = 1000;
    scene.succeed();
    for (let i = 0; i < 5; i++) scene.fail('timeout', { ticket: later });
    expect(scene.standing.aside).toBe(false);
  });

  test('an attempt that was made for lack of another replica can bring it back too, and does not prolong it', () => {
    const scene = new Scene();
    scene.fail('connect');
    const [bad, good] = [scene.begin(), scene.begin()];
    scene.fail('connect', { ticket: bad });
    expect(scene.standing.times).toBe(1);
    expect(scene.succeed(good)).toBe('back');
  });

  test('an inconclusive trial is repeated after a second, without doubling', () => {
    for (const failure of ['cancelled', 'busy', 'unsupported_pair', 'no_detection', 'file_refused'] as const) {
      const scene = Scene.due();
      scene.fail(failure);
      expect([scene.standing.aside, scene.forMs, scene.standing.times]).toEqual([true, 1000, 1]);
    }
  });

  test('a trial with a shorter deadline fails like any other', () => {
    const scene = Scene.due();
    scene.fail('timeout', { deadlineShare: 0.01 });
    expect([scene.forMs, scene.standing.times]).toEqual([2000, 2]);
  });

  test('a trial that ends after another attempt has brought it back changes nothing', () => {
    const scene = Scene.due();
    const trial = scene.begin();
    expect(scene.succeed()).toBe('back');
    for (let i = 0; i < 5; i++) expect(scene.fail('timeout', { ticket: trial })).toBeUndefined();
    expect(scene.standing.aside).toBe(false);
  });
});
