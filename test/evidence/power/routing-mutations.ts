// Planted bugs in the routing between several engines: rules, capabilities, attempts, limits, reloads, and reports.
import type { Mutation, TestRun } from './mutation.ts';

const RULES: TestRun = { file: 'test/unit/domain/engine-routing.test.ts' };
const OFFER: TestRun = { file: 'test/unit/domain/engine-offer.test.ts' };
const ENGINES: TestRun = { file: 'test/unit/engines/open-engine.test.ts' };
const ROTATION: TestRun = { file: 'test/unit/engines/rotation.test.ts' };
const ADMIT: TestRun = { file: 'test/unit/steps/admit.test.ts' };
const READ: TestRun = { file: 'test/unit/steps/read.test.ts' };
const COMMAND: TestRun = { file: 'test/unit/cli/engine-route.test.ts' };
const FALLBACK: TestRun = { file: 'test/journey/engine-fallback.test.ts', names: 'status, by' };
const JOURNEY: TestRun = { file: 'test/journey/several-engines.test.ts' };
const PARTS: TestRun = { file: 'test/journey/several-engines-texts.test.ts' };
const RELOAD: TestRun = { file: 'test/journey/several-engines-manual.test.ts', names: 'are taken by a reload' };

function bug(name: string, where: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name: `routing: ${name}`, edits: [{ where, find, replace }], caughtBy };
}

export const ROUTING_MUTATIONS: readonly Mutation[] = [
  bug('the last rule that fits decides', 'ruleFor', 'return rules.findIndex(', 'return rules.findLastIndex(', RULES, COMMAND),
  bug(
    'a rule for plans fits those that are not known',
    'ruleFor',
    '(plan !== undefined && plans.has(plan))',
    '(plan === undefined || plans.has(plan))',
    RULES,
  ),
  bug(
    'a rule with a source fits a request without one',
    'pairTest',
    '(sourceLang !== undefined && targets.get(sourceLang)?.has(targetLang) === true)',
    '[...targets].some(([source, of]) => (sourceLang ?? source) === source && of.has(targetLang))',
    RULES,
    JOURNEY,
  ),
  bug('a plan that no rule names gets what any can', 'offersOfSeveral', '(byPlan.get(plan) ?? others)', '(byPlan.get(plan) ?? any)', OFFER),
  bug(
    'the plan is not asked for',
    'enginesFor',
    'const offer = offerFor(x, parts.offers.current);',
    'const offer = parts.offers.current.any;',
    JOURNEY,
  ),
  bug(
    "an engine's pairs do not count",
    'offersPair',
    'if (pairs === undefined) return true;\n  return sourceLang',
    'if (pairs !== null) return true;\n  return sourceLang',
    OFFER,
    COMMAND,
  ),
  bug(
    'only what is asked for first counts',
    'EngineRoute.withAll',
    '(this.with(want)?.withAll(others) ?? want)',
    '(this.with(want) ?? want)',
    OFFER,
  ),
  bug('glossaries go to every engine', 'REQUIRED_BY', "hasGlossary ? ['glossary'] : NOTHING", 'NOTHING', OFFER, COMMAND),
  bug('a second attempt stays at the engine', 'openEngines.next', 'engines?.[1];', 'engines?.[0];', ENGINES, FALLBACK),
  bug('a second attempt goes to the last engine of the list', 'openEngines.next', 'engines?.[1];', 'engines?.at(-1);', ENGINES, FALLBACK),
  bug(
    'a third attempt',
    'Balancer.second',
    "else asked.answered({ kind: 'unavailable', failures: [failure, second.failure] });",
    `else if (before === undefined && !(asked as { third?: true }).third) {
        (asked as { third?: true }).third = true;
        this.second(asked, cancellation, first, undefined);
      } else asked.answered({ kind: 'unavailable', failures: [failure, second.failure] });`,
    ENGINES,
    FALLBACK,
  ),
  bug(
    'requests of a batch follow the first of them to its next engine',
    'conclude in batch.ts',
    'balancer.second(asked, cancellation, attempt, replica);',
    'balancer.second(Object.assign(Object.create(asked), { engines: members[0]!.asked.engines }), cancellation, attempt, replica);',
    ENGINES,
  ),
  bug(
    'all engines have the limits of the first',
    'openEngines',
    '{ ...options, ...several }',
    '{ ...options, timeoutMs: all[0]!.timeoutMs, connectionsMax: all[0]!.connectionsMax, queueMax: all[0]!.queueMax, ...several }',
    ENGINES,
  ),
  bug(
    'a preferred formality goes to an engine without',
    'openEngines',
    'options.can.formality ? undefined : withoutFormality',
    'undefined',
    ENGINES,
  ),
  bug(
    "a last attempt takes a replica's trial",
    'Rotation.afterAnother',
    'this.#from(turn, ({ standing }) => !standing.aside) ??\n      this.#from(turn, ({ standing }) => standing.isDue(nowMs)) ??',
    'this.#from(turn, ({ standing }) => standing.isDue(nowMs)) ??\n      this.#from(turn, ({ standing }) => !standing.aside) ??',
    ROTATION,
    ENGINES,
  ),
  bug(
    'last attempts go to replicas that are set aside',
    'Rotation.afterAnother',
    'this.#from(turn, ({ standing }) => !standing.aside) ??\n      this.#from(turn, ({ standing }) => standing.isDue(nowMs)) ??',
    'this.#from(turn, () => true) ??',
    ROTATION,
    ENGINES,
  ),
  bug(
    'a fallback does not find out that a replica is back',
    'Balancer.second',
    'if (before === undefined) this.#tryOverdue(asked.options);',
    '',
    ENGINES,
  ),
  bug('SIGHUP keeps the rules', 'OpenServing.replace', 'this.#languages.replace(this.#offeredBy(next));', '', RELOAD),
  bug(
    'SIGHUP keeps the URLs of all engines but the first',
    'OpenServing.replace',
    'for (const { name, urls } of next.engines) this',
    'for (const { name, urls } of next.engines.slice(0, 1)) this',
    RELOAD,
  ),
  bug('the body is kept for as long as the engine takes', 'judgedAgain', 'x.set(judgeAgainSlot, undefined);', '', ADMIT),
  bug(
    'a quota is judged before the plan',
    'PendingAdmission.decide',
    'if (again !== undefined) return again;',
    "if (again !== undefined && admission.kind === 'admitted') return again;",
    ADMIT,
    JOURNEY,
  ),
  bug(
    'a request is judged again by what any plan can',
    'judgeLater.judge',
    'judged(x, value, offerFor(x, offers.current))',
    'judged(x, value, offers.current.any)',
    READ,
  ),
  bug(
    'the name of the engine stands in the answer',
    'answerOf in translate.ts',
    '.characters}}`);',
    ".characters}}`, 200, [['X-Engine', x.need(requestStatsSlot).engine ?? '']]);",
    FALLBACK,
  ),
  bug(
    'the log names the first engine, whoever answered',
    'PendingWork.finished',
    'stats.engine = result.engine;',
    'stats.engine = engines[0];',
    FALLBACK,
  ),
  bug(
    'a part whose engines fail is left out of the answer',
    'allOrRefusal',
    "all.find((one): one is Refusal => 'problem' in one) ?? (all as readonly Done[])",
    "all.filter((one): one is Done => !('problem' in one))",
    PARTS,
  ),
  bug(
    'engine route forgets that the target has no formality',
    'explainRoute.cannot',
    "(want === 'formality' && !hasFormality) || ",
    '',
    COMMAND,
  ),
];
