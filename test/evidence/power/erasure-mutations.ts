// Planted bugs in deletions of teams: what still admits or charges, what is never ended, and what is left elsewhere.
import type { Mutation } from './mutation.ts';

const CONTRACT = 'test/unit/stores/contract.test.ts';
const REDIS = 'test/unit/stores/redis/team-erasure.test.ts';
const SQLITE = { file: 'test/unit/stores/sqlite/team-erasure.test.ts' };

export const ERASURE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'SQLite: a deletion leaves the team in the memory of the process that makes it, and its keys admit',
    edits: [
      {
        where: 'TeamErasure.delete',
        find: 'const no = await work.change(`team ${teamId}`',
        replace: 'const no = await work.run(`team ${teamId}`',
      },
    ],
    caughtBy: [SQLITE],
  },
  {
    name: 'Redis: a deletion that keeps the usage keeps the account, and commits continue in it',
    edits: [
      {
        where: 'STAYS',
        find: 'local STAYS = { created = true,',
        replace: 'local STAYS = { b = true, p = true, created = true,',
      },
    ],
    caughtBy: [
      { file: CONTRACT, names: 'Redis.*deletion of teams' },
      { file: REDIS, names: 'usage stays' },
    ],
  },
  {
    name: 'Redis: the janitor does not end a deletion that was cut off',
    edits: [
      {
        where: 'RedisTeamErasure.finishAll',
        find: '        if (isTeam === 0) await answering(() => this.#finish(teamId));\n        else if',
        replace: '        if',
      },
    ],
    caughtBy: [{ file: REDIS, names: 'the janitor' }],
  },
  {
    name: 'SQLite: the janitor does not end a deletion that was cut off',
    edits: [{ where: 'Janitor.sweep', find: '    if (erasure.isDue()) await erasure.finishAll();\n', replace: '' }],
    caughtBy: [SQLITE],
  },
  {
    name: 'SQLite: a janitor continues a deletion that somebody else has completed',
    edits: [
      {
        where: 'TeamErasure.#removeSome',
        find: '    if (state === undefined) return false;\n',
        replace: '',
      },
    ],
    caughtBy: [SQLITE],
  },
  {
    name: 'Redis: a deletion leaves the digests of the keys',
    edits: [
      {
        where: 'RedisTeamErasure.#removeKeys',
        find: ', ...digests.filter((one) => one !== undefined).map(digestKey)',
        replace: '',
      },
    ],
    caughtBy: [
      { file: REDIS, names: 'the janitor' },
      { file: REDIS, names: 'in a cluster' },
    ],
  },
  {
    name: 'Redis: what looks at all keys looks at one server of a cluster',
    edits: [
      {
        where: 'scanned in keyspace.ts',
        find: 'of mastersOf(redis)) {',
        replace: 'of mastersOf(redis).slice(0, 1)) {',
      },
    ],
    caughtBy: [{ file: 'test/unit/stores/redis/cluster-repair.test.ts' }],
  },
  {
    name: 'Redis: the deletion of a glossary is not kept in the audit',
    edits: [
      {
        where: 'timed.change_records',
        find: "  keep_audit(audit)\n  return { now, 'changed' }",
        replace: "  return { now, 'changed' }",
      },
    ],
    caughtBy: [{ file: CONTRACT, names: 'Redis.*audit: removal of a glos' }],
  },
];
