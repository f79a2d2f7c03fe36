// The rotation: fair among good replicas, none for those set aside while another is good; then everything at random, on a virtual clock.
import { describe, expect, test } from 'vitest';
import { ReplicaStanding, Rotation } from '../../../src/engines/replica.ts';
import type { AttemptFailure } from '../../../src/ports/engine.ts';

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
  const laters = ({ rotation }: Scene, count: number): string => Array.from({ length: count }, () => rotation.afterAnother().name).join('');

  test('go to good replicas in turn, even if one that is set aside is due', () => {
    const scene = new Scene(3);
    expect(laters(scene, 4)).toBe('abca');
    scene.fail('b');
    scene.nowMs = 60_000;
    expect(laters(scene, 4)).toBe('caca');
  });

  test('go to one that is due if none is good, then to those that have failed for the shortest time', () => {
    const scene = new Scene(3);
    scene.fail('a');
    scene.nowMs = 1000;
    for (const name of ['a', 'b', 'c']) scene.fail(name);
    expect(laters(scene, 4)).toBe('bcbc');
    scene.nowMs = 3000;
    const first = scene.rotation.afterAnother();
    expect(first.standing.isDue(scene.nowMs)).toBe(true);
  });

  test('leave a replica to a trial of our own if no first attempt has tried it within a second', () => {
    const scene = new Scene(2);
    expect(scene.rotation.overdue()).toBeUndefined();
    scene.fail('b');
    scene.nowMs = 1999;
    expect(scene.rotation.overdue()).toBeUndefined();
    scene.nowMs = 2000;
    expect(scene.rotation.overdue()?.name).toBe('b');
    const trial = scene.named('b').standing.begin(() => scene.nowMs);
    expect(scene.rotation.overdue()).toBeUndefined();
    scene.named('b').standing.usable(trial);
    expect(scene.rotation.overdue()).toBeUndefined();
  });
});
