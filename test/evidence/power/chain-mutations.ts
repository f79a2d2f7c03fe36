// Planted bugs in the chain: core, steps, domain, key cache and settlement queue.
import type { Mutation, TestRun } from './mutation.ts';

export function simulated(seeds: number, from = 1): TestRun {
  const env = { LINGATE_SIMULATION_SEEDS: String(seeds), LINGATE_SIMULATION_FROM: String(from) };
  return { file: 'test/evidence/simulation/simulation.test.ts', names: 'no guarantee breaks', env };
}

const SIMULATED = simulated(250);
/** For what few seeds notice: one in two to four hundred. */
const SIMULATED_LONG = simulated(1100);
const UNREAD: TestRun = { file: 'test/journey/unread-bodies.test.ts' };
const MONEY: TestRun = { file: 'test/unit/domain/money.test.ts' };

/** One edit, which is enough for most bugs. */
function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ where, find, replace }], caughtBy };
}

const NO_ANSWER = "if (outcome.kind !== 'reply' && outcome.kind !== 'stream')";
const RELEASE = 'return settlements.release(reservation, x.get(traceSlot));';
/** In the first of the two passes. */
const WITHIN = 'let values = 0;\n  for (let at = 0; at < bytes.length; at++) {\n    switch (bytes[at]!) {\n      case QUOTE:';
const UNTIL = 'const untilMs = this.#options.now()';
const DELAYED = 'this.#closed || this.#options.now() + delayMs';

export const CHAIN_MUTATIONS: readonly Mutation[] = [
  bug('settled on abort', 'admitStep.settle', NO_ANSWER, "if (outcome.kind === 'problem')", SIMULATED),
  bug('failures are charged', 'admitStep.settle', `${NO_ANSWER} ${RELEASE}`, '', SIMULATED),
  bug('failures release nothing', 'admitStep.settle', RELEASE, 'return;', SIMULATED),
  bug(
    'what was spared is charged',
    'admitStep.settle',
    'characters === reservation.characters ? undefined : characters',
    'undefined',
    SIMULATED,
  ),
  bug('what was spared is said to be charged', 'answerOf in translate.ts', '.characters}}`', '.characters + 1}}`', SIMULATED),
  bug('what is spared counts once', 'spareCharacters', 'stats.characters - count', 'count', {
    file: 'test/unit/steps/admit.test.ts',
  }),
  bug(
    'what only the schema refuses is accepted',
    'judgeTranslateBody',
    "if (fits || judged.kind === 'invalid') return judged;",
    'return judged;',
    { file: 'test/unit/domain/schema-refusal.test.ts', names: 'a rule that only the schema has' },
  ),
  bug(
    'the lease is forgotten',
    'PendingAdmission.constructor',
    'this.leaseMs = charge?.leaseMs ?? options.leaseMs;',
    'this.leaseMs = 2 ** 40;',
    SIMULATED,
  ),
  bug(
    'an unknown admission is left held',
    'PendingAdmission.decide',
    'options.settlements.releaseUnknown(teamId, x.id, x.get(traceSlot));',
    '',
    SIMULATED,
  ),
  bug('UTF-16 units are counted', 'countCharacters', 'if (unit >= 0xd800 && unit <= 0xdbff) count--;', '', SIMULATED, {
    file: 'test/unit/domain/translate-request.test.ts',
  }),
  bug(
    'floats for money',
    'costMicro',
    'return characters * minorPerMillion;',
    'return characters * (minorPerMillion / 1_000_000) * 1_000_000;',
    MONEY,
  ),
  bug(
    'a place is taken before the body has come',
    'Pipeline.advance',
    `x.bodyDue) return;
      x.entered = true;
      for (const step of entering) {`,
    `(x.bodyDue && entering.some((step) => step.enter!(x) !== undefined)) || x.bodyDue) return;
      x.entered = true;
      for (const step of [] as typeof entering) {`,
    UNREAD,
    { file: 'test/unit/core/pipeline.test.ts', names: 'steps that identify the caller' },
  ),
  bug('a body that is not announced is never long', 'Call.receive', 'body.length > LONG_BODY_BYTES && ', 'false && ', UNREAD),
  bug('an announced body is never long', 'Gateway.begin', 'announcedBytes > LONG_BODY_BYTES', 'announcedBytes > Infinity', UNREAD),
  bug(
    'whoever sends last loses a slow body, not who has most of them',
    'surplus',
    'return callers.flatMap((of) => of.slice(share));',
    'return unfinished.slice(max + share * 0);',
    { file: 'test/unit/core/unfinished-bodies.test.ts' },
  ),
  bug('brackets in a text count as nesting', 'scanned in json-bounds.ts', `${WITHIN}\n        at = endOfString(bytes, at + 1);`, WITHIN, {
    file: 'test/unit/domain/json-body.test.ts',
  }),
  bug('no deadline', 'Gateway.#expire', 'if (!x.answered && !x.ownDeadline) this.#giveUp(x);', '', SIMULATED),
  bug(
    'what was given up on is settled as if it had been delivered',
    'Pipeline.resume',
    "if (x.cancelled) {\n      if (outcome?.kind === 'stream') outcome.body.cancel();\n      this.#finish(x, x.calledOffWith ?? CLIENT_CLOSED);\n    } else if",
    'if',
    SIMULATED,
  ),
  bug('an answer that could not be written is charged', 'Pipeline.settle', 'step.settle(x, sent);', 'step.settle(x, outcome);', SIMULATED),
  bug(
    'a verdict is tried once',
    'SettlementQueue.conclude',
    "if (resolution.kind !== 'unavailable') return this.#done(open, resolution.kind);",
    "return this.#done(open, resolution.kind === 'unavailable' ? 'abandoned' : resolution.kind);",
    SIMULATED,
  ),
  {
    name: 'the queue goes by the wall clock',
    edits: [
      { where: 'SettlementQueue.#take', find: UNTIL, replace: 'const untilMs = Date.now()' },
      { where: 'SettlementQueue.conclude', find: DELAYED, replace: 'this.#closed || Date.now() + delayMs' },
    ],
    caughtBy: [SIMULATED_LONG],
  },
  bug('a closed queue keeps trying', 'SettlementQueue.conclude', 'if (this.#closed || ', 'if (', SIMULATED_LONG),
  bug('unknown keys are remembered too long', 'UNKNOWN_MS', 'const UNKNOWN_MS = 1000;', 'const UNKNOWN_MS = 60_000;', SIMULATED),
  bug(
    'a store that is away makes keys unknown',
    'LruKeyCache.#remember',
    'if (found === undefined) this.#unknown',
    "if (found === undefined || 'kind' in found) this.#unknown",
    SIMULATED,
  ),
];
