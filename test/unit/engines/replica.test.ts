// When a replica is set aside, for how long, what tries it again, and what brings it back.
import { describe, expect, test } from 'vitest';
import { ReplicaStanding } from '../../../src/engines/replica.ts';
import type { AttemptFailure, UnusableAttempt } from '../../../src/ports/engine.ts';

const WALL_MS = Date.UTC(2026, 10, 22, 12);

class Scene {
  readonly standing = new ReplicaStanding();
  nowMs = 0;

  begin(): number {
    return this.standing.begin(() => this.nowMs);
  }

  fail(failure: AttemptFailure, more: Partial<UnusableAttempt> & { ticket?: number; deadlineShare?: number } = {}): void {
    const { ticket = this.begin(), deadlineShare = 1, ...attempt } = more;
    const terms = { nowMs: this.nowMs, wallMs: WALL_MS + this.nowMs, deadlineShare };
    this.standing.failed(ticket, { kind: 'unusable', failure, ...attempt }, terms);
  }

  succeed(ticket = this.begin()): void {
    this.standing.usable(ticket);
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

describe('it is set aside for', () => {
  test('a second, doubled each time in a row up to 30, and a second again after its return', () => {
    const scene = new Scene();
    scene.fail('connect');
    const times: number[] = [];
    for (let i = 0; i < 8; i++) {
      times.push(scene.forMs);
      scene.nowMs = scene.standing.untilMs;
      scene.fail('timeout');
    }
    expect(times).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    scene.nowMs = scene.standing.untilMs;
    scene.succeed();
    expect(scene.standing.aside).toBe(false);
    scene.fail('connect');
    expect(scene.forMs).toBe(1000);
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

  test('attempts that began before it was set aside neither bring it back nor prolong it', () => {
    const scene = new Scene();
    const [slow, late, later] = [scene.begin(), scene.begin(), scene.begin()];
    scene.fail('status', { status: 429 });
    scene.nowMs = 500;
    scene.succeed(slow);
    expect(scene.standing.aside).toBe(true);
    scene.fail('timeout', { ticket: late });
    expect([scene.standing.untilMs, scene.standing.times]).toEqual([1000, 1]);
    // Nor do they count after its return.
    scene.nowMs = 1000;
    scene.succeed();
    for (let i = 0; i < 5; i++) scene.fail('timeout', { ticket: later });
    expect(scene.standing.aside).toBe(false);
  });
});
