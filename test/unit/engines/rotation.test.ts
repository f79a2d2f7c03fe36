// When a replica is set aside, for how long, and what tries it again;
// and the rotation: fair among good replicas, none for those set aside while another is good.
import { describe, expect, test } from 'vitest';
import { ReplicaStanding, Rotation } from '../../../src/engines/replica.ts';
import type { AttemptFailure, UnusableAttempt } from '../../../src/ports/engine.ts';

class Member {
  readonly name: string;
  readonly standing = new ReplicaStanding();

  constructor(name: string) {
    this.name = name;
  }
}

class Scene {
  nowMs = 0;
  readonly rotation = new Rotation<Member>(() => this.nowMs);
  readonly members: readonly Member[];

  constructor(count: number) {
    this.members = Array.from({ length: count }, (_, i) => new Member('abcdef'[i]!));
    this.rotation.members = this.members;
  }

  fail(name: string, failure: AttemptFailure = 'connect'): void {
    const { standing } = this.named(name);
    const ticket = standing.begin(() => this.nowMs);
    standing.failed(ticket, { kind: 'unusable', failure }, { nowMs: this.nowMs, wallMs: 0, deadlineShare: 1 });
  }

  named(name: string): Member {
    return this.members.find((member) => member.name === name)!;
  }

  firsts(count: number): string {
    return Array.from({ length: count }, () => this.rotation.first().name).join('');
  }

  seconds(previous: string, count: number): string {
    return Array.from({ length: count }, () => this.rotation.second(this.named(previous)).name).join('');
  }
}

describe('first attempts', () => {
  test('go in rotation, whatever second attempts do', () => {
    const scene = new Scene(3);
    let order = '';
    for (let i = 0; i < 9; i++) {
      order += scene.firsts(1);
      scene.seconds(order.at(-1)!, i % 4);
    }
    expect(order).toBe('abcabcabc');
  });

  test('leave out one that is set aside, with equal shares for the others', () => {
    const scene = new Scene(4);
    scene.fail('b');
    expect(scene.firsts(9)).toBe('acdacdacd');
  });

  test('try a replica whose time is over once, out of turn', () => {
    const scene = new Scene(3);
    scene.fail('a');
    expect(scene.firsts(1)).toBe('b');
    scene.nowMs = 1000;
    expect(scene.rotation.first().name).toBe('a');
    const trial = scene.named('a').standing.begin(() => scene.nowMs);
    expect(scene.firsts(4)).toBe('cbcb');
    scene.named('a').standing.usable(trial);
    // It takes its turn again, and the rotation did not advance during its trial.
    expect(scene.firsts(6)).toBe('cabcab');
  });

  test('go to those that have failed for the shortest time, in turn, if all are set aside', () => {
    const scene = new Scene(3);
    scene.fail('a');
    scene.nowMs = 1000;
    scene.fail('a');
    scene.fail('b');
    scene.fail('c');
    expect(scene.firsts(4)).toBe('bcbc');
  });

  test('all go to an only replica', () => {
    const scene = new Scene(1);
    expect(scene.firsts(3)).toBe('aaa');
    expect(scene.seconds('a', 2)).toBe('aa');
  });

  test('continue when replicas are added and removed', () => {
    const scene = new Scene(3);
    scene.firsts(2);
    scene.rotation.members = scene.members.slice(0, 2);
    expect(scene.firsts(3)).toBe('aba');
    scene.fail('a');
    scene.rotation.members = scene.members;
    expect(scene.firsts(4)).toBe('bcbc');
  });
});

describe('second attempts', () => {
  test('go to other replicas, in equal shares', () => {
    const scene = new Scene(3);
    expect(scene.seconds('a', 4)).toBe('bcbc');
    expect(new Scene(2).seconds('b', 2)).toBe('aa');
  });

  test('go to the same replica rather than to one that is set aside, even if that is due', () => {
    const scene = new Scene(2);
    scene.fail('b');
    expect(scene.seconds('a', 2)).toBe('aa');
    scene.nowMs = 1000;
    expect(scene.seconds('a', 1)).toBe('a');
  });

  test('go to another one that is set aside if the same one is set aside too, or was removed', () => {
    const scene = new Scene(3);
    for (const name of ['a', 'b', 'c']) scene.fail(name);
    expect(scene.seconds('a', 2)).toBe('bc');
    const removed = new Member('x');
    expect(scene.rotation.second(removed).name).toBe('a');
  });
});

describe('attempts after another engine has failed', () => {
  test('without a good replica go to one that is due, then to those that have failed for the shortest time', () => {
    const scene = new Scene(3);
    scene.fail('a');
    scene.nowMs = 1000;
    for (const name of ['a', 'b', 'c']) scene.fail(name);
    expect(Array.from({ length: 4 }, () => scene.rotation.afterAnother().name).join('')).toBe('bcbc');
    scene.nowMs = 3000;
    const first = scene.rotation.afterAnother();
    expect(first.standing.isDue(scene.nowMs)).toBe(true);
  });
});

const WALL_MS = Date.UTC(2026, 10, 22, 12);

class Alone {
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

  /** The time for which it is set aside now, in milliseconds. */
  get forMs(): number {
    return this.standing.untilMs - this.nowMs;
  }
}

describe('a replica that fails', () => {
  test('is set aside for a second, doubled each time in a row up to 30, and a second again after its return', () => {
    const scene = new Alone();
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

  test('is due for one attempt when its time is over, not before, and not for another', () => {
    const scene = new Alone();
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

  test('is neither brought back nor set aside for longer by attempts that began before', () => {
    const scene = new Alone();
    const [slow, delayed, later] = [scene.begin(), scene.begin(), scene.begin()];
    scene.fail('status', { status: 429 });
    scene.nowMs = 500;
    scene.succeed(slow);
    expect(scene.standing.aside).toBe(true);
    scene.fail('timeout', { ticket: delayed });
    expect([scene.standing.untilMs, scene.standing.times]).toEqual([1000, 1]);
    // Nor do they count after its return.
    scene.nowMs = 1000;
    scene.succeed();
    for (let i = 0; i < 5; i++) scene.fail('timeout', { ticket: later });
    expect(scene.standing.aside).toBe(false);
  });
});
