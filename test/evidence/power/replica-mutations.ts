// Planted bugs in how replicas are chosen, taken out of use and brought back.
import type { Mutation, TestRun } from './mutation.ts';

const STANDING: TestRun = { file: 'test/unit/engines/replica.test.ts' };
const ROTATION: TestRun = { file: 'test/unit/engines/rotation.test.ts' };

function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ where, find, replace }], caughtBy };
}

export const REPLICA_MUTATIONS: readonly Mutation[] = [
  bug(
    'second attempts move the rotation',
    'Rotation.second',
    'others);\n    this.#secondTurn = (index + 1) % members.length;',
    'others);\n    this.#turn = (index + 1) % members.length;',
    ROTATION,
  ),
  bug(
    'a second attempt prefers a replica that is set aside',
    'Rotation.second',
    'if (good === undefined && !previous.standing.aside && members.includes(previous)) return previous;',
    '',
    ROTATION,
  ),
  bug('every request tries a replica whose time is over', 'ReplicaStanding.isDue', 'this.#trial === NO_TRIAL && ', '', STANDING, ROTATION),
  bug(
    'an answer from before brings a replica back',
    'ReplicaStanding.usable',
    'if (ticket < this.#since) return undefined;',
    '',
    STANDING,
    ROTATION,
  ),
  bug('the time is not doubled', 'ReplicaStanding.#setAside', '2 ** Math.min(this.times - 1, 5)', '1', STANDING, ROTATION),
];
