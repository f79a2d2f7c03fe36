// Planted bugs in what operators rely on: only offered pairs are accepted, leaked keys are found, mistakes are reported.
import type { Mutation, TestRun } from './mutation.ts';

const LEAKED = (names: string): TestRun => ({ file: 'test/journey/leaked-key.test.ts', names });
const OFFERED: TestRun = { file: 'test/unit/runtime/engine-pairs.test.ts' };

function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ where, find, replace }], caughtBy };
}

const ONCE = (names: string): TestRun => ({ file: 'test/journey/idempotency-two-gateways.test.ts', names });
const REQUESTS = (names: string): TestRun => ({ file: 'test/unit/admin/idempotent-requests.test.ts', names });
const KEPT = (names: string): TestRun => ({ file: 'test/unit/stores/contract.test.ts', names });

export const OPERATOR_MUTATIONS: readonly Mutation[] = [
  bug(
    'an Idempotency-Key is shared between operators',
    'AdminApi.handle',
    '`${operator.name}\\n${key}`',
    'key',
    ONCE('each operator has Idempotency-Keys'),
  ),
  bug('an answer that is repeated has its secret', 'ROUTES.createKey', "    shownOnce: 'key',\n", '', ONCE('a key is created once')),
  bug(
    'a request of a dead process is run with a new id',
    'RecordIdempotency.#claim',
    "return { result: { kind: 'claimed', recordId: known.recordId }, put: [hold] };",
    "return { result: { kind: 'claimed', recordId }, put: [hold] };",
    REQUESTS('between a creation and its record'),
  ),
  bug(
    'a request that is running is run by another process too',
    'RecordIdempotency.#claim',
    "if (running !== undefined && running.holder !== holder && running.untilMs > nowMs) return { result: { kind: 'running' } };",
    '',
    KEPT('SQLite.*take effect once'),
  ),
  bug(
    'Redis: a request that is running is run by another process too, because what was read is not compared',
    'changeArguments',
    '[...team, ...read, ...made]',
    '[...team, ...made]',
    KEPT('Redis.*take effect once'),
  ),
  bug(
    'Redis: what is remembered of requests outlives their team',
    'RedisTeamErasure.#finish',
    '    answered(await this.#parts.requests.forgetTeam(teamId));\n',
    '',
    KEPT('Redis.*take effect once'),
  ),
  bug(
    'one process runs a request twice at a time',
    'IdempotentRequests.#alone',
    'this.#here.set(asked.id, { request: asked.request, ended });',
    '',
    REQUESTS('of fifty at a time'),
  ),
  bug(
    'a pair that is not offered goes to the engine',
    'judgeOptions',
    'if (!languages.offers(sourceLang, targetLang)) return no(pairNotOffered(sourceLang, targetLang, languages));',
    '',
    { file: 'test/journey/pairs.test.ts', names: 'over /v1' },
  ),
  bug(
    'an engine that talks nonsense has no pairs any more',
    'EnginePairs.#take',
    'this.#silent.add(url);',
    'this.#silent.add(url);\n    this.#reported.delete(url);',
    OFFERED,
  ),
  bug('only what every replica has is offered', 'anyOf in engine-pairs.ts', 'reported.some((offers)', 'reported.every((offers)', OFFERED),
  bug(
    'a key on the command line is repeated',
    'runWords',
    'if (argv.some(holdsKey)) {',
    'if (argv.length < 0) {',
    LEAKED('takes no key as an argument'),
  ),
  bug(
    'what is pasted is shown',
    'readSecret',
    '  input.setRawMode(true);\n  try {\n    write(prompt);',
    '  try {\n    write(prompt);\n    input.setRawMode(true);',
    {
      file: 'test/unit/cli/secret-input.test.ts',
    },
  ),
  bug(
    'the console looks for a whole key',
    'teamsPage',
    "if (holdsKey(request.query.get('q') ?? '')) return withoutKey();",
    '',
    LEAKED('keeps a whole key'),
  ),
  bug('keys are looked for among the first teams only', 'TeamIndex.pieces', 'if (ids.length < count) return;', 'return;', {
    file: 'test/unit/stores/redis/team-search.test.ts',
  }),
  bug(
    'a plan is applied whatever numbers the running gateways have',
    'gatewaysWithOtherNumbers',
    'return differences.length === 0 ? [] : [{ host, file, differences }];',
    'return [];',
    { file: 'test/unit/admin/plan-comparison.test.ts' },
  ),
  bug(
    'a command with the wrong store makes an empty one',
    'prepareFile',
    'if (!mayCreate && !existsSync(location)) throw new NoStoreError(placeOf(path, location));',
    '',
    { file: 'test/unit/cli/with-store.test.ts' },
  ),
  bug(
    'the first plugin that is wrong hides the others',
    'loadPlugins',
    'if (!(error instanceof ConfigError)) throw error;',
    'throw error;',
    { file: 'test/unit/app/judge.test.ts' },
  ),
  bug(
    'an operator who may only read makes changes over the admin API',
    'AdminApi.handle',
    "if (!looks && operator.role !== 'manage')",
    'if (!looks && operator.role === undefined)',
    { file: 'test/journey/operators.test.ts', names: 'over the admin API' },
  ),
  bug(
    'a session outlives its token',
    'Sessions.find',
    'this.#operators.now(kept.session.operator) : undefined',
    'kept.session.operator : undefined',
    { file: 'test/unit/admin/operators.test.ts' },
  ),
  bug(
    'credit is taken that reservations hold',
    'timed.update_team',
    'if add < 0 and team.balance + add < held then',
    'if add < 0 and team.balance + add < 0 then',
    { file: 'test/unit/stores/contract.test.ts', names: 'credit: credit can be withdrawn' },
  ),
  bug('credit is taken that reservations hold, in a transaction', 'decideTeamChange', 'balanceMicro < heldMicro', 'balanceMicro < 0', {
    file: 'test/unit/stores/contract.test.ts',
    names: 'the SQLite store.*credit: credit can be withdrawn',
  }),
  bug(
    'a change is made again under its id',
    'decideTeamChange',
    "  if (known !== undefined) return { answer: known === once?.request ? team : { kind: 'other_request' } };\n",
    '',
    KEPT('the SQLite store.*nothing is recorded for'),
  ),
  bug(
    'whatever is changed, the plan that waits is lost',
    'changedTeam',
    'nextPlan === null ? undefined : waiting',
    'undefined',
    KEPT('the SQLite store.*plan changes at the end'),
  ),
  bug(
    'an entry of the audit is lost to readers while its change is under way',
    'RedisAuditLog.#forgetBegun',
    'momentOf(member) < nowMs - BEGUN_MS',
    'momentOf(member) <= nowMs',
    { file: 'test/unit/stores/redis/audit.test.ts' },
  ),
];
