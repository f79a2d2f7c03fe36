// Planted bugs in endpoints and in plugins: their routes, forms, deadlines, and documentation.
import type { Mutation, TestRun } from './mutation.ts';

const LENIENT: TestRun = { file: 'test/unit/core/router.test.ts', names: 'a lenient route' };
const ROUTES: TestRun = { file: 'test/unit/app/plugin-routes.test.ts' };

function journey(names: string): TestRun {
  return { file: 'test/journey/plugin-routes.test.ts', names };
}

function bug(name: string, where: string, find: string, replace: string, caughtBy: TestRun): Mutation {
  return { name, edits: [{ where, find, replace }], caughtBy: [caughtBy] };
}

export const PLUGIN_MUTATIONS: readonly Mutation[] = [
  bug('a plugin answers for a route of ours', 'placeFault', 'pathsOverlap(path, route.path)', 'path === route.path', ROUTES),
  bug('a plugin takes the name of a step of ours', 'stepsOfPlugins', 'shared.has(name) || ', '', ROUTES),
  bug(
    'glossaries are not found because the store is away',
    'listGlossaries',
    'if (isUnavailable(list)) return STORE_UNAVAILABLE;',
    'if (isUnavailable(list)) return NOT_FOUND;',
    { file: 'test/unit/endpoints/store-away.test.ts' },
  ),
  bug(
    'a hasty attempt has all the time in the world',
    'Balancer.#attempt',
    'work.attemptMs === undefined ? this.#terms',
    'work.requestId.length > 0 ? this.#terms',
    journey('its own deadline'),
  ),
  bug(
    'the log says another status than the caller was told',
    'accessLogStep.settle',
    'x.route.problemForm?.status(problem) ?? ',
    '',
    journey('log and metrics'),
  ),
  bug(
    'a broken escape is repaired',
    'fieldOf in form-body.ts',
    'decodeURIComponent(pair.slice(equals + 1))',
    "new URLSearchParams(`x=${pair.slice(equals + 1)}`).get('x')!",
    { file: 'test/unit/domain/form-body.test.ts' },
  ),
  bug(
    'several targets are charged as one',
    'readTranslation in azure-3-0.ts',
    "characters * Math.max(1, targetsIn(valuesOf(query).get('to')).length)",
    'characters',
    { file: 'test/unit/plugins/azure-v3/azure-3-0.test.ts' },
  ),
  bug(
    'several targets in one parameter are charged as one',
    'readTranslation in azure-3-0.ts',
    "characters * Math.max(1, targetsIn(valuesOf(query).get('to')).length)",
    "characters * Math.max(1, query.get('to')?.length ?? 0)",
    { file: 'test/unit/plugins/azure-v3/azure-3-0.test.ts' },
  ),
  bug(
    'empty texts go to the engine after all',
    'translateAll',
    "if (order.text.length === 0) return { kind: 'translated', translations: [] };",
    '',
    { file: 'test/unit/plugins/facades/texts.test.ts' },
  ),
  bug('only empty texts reserve something', 'chargeFor', 'reserve: characters > 0, glossary', 'reserve: true, glossary', {
    file: 'test/journey/deepl-v2.test.ts',
    names: 'only empty texts',
  }),
  bug(
    'of more texts than an engine takes only the first are translated',
    'translation.steps in translation.ts',
    'translateAll(services, x, { text: order.text, options',
    'translateAll(services, x, { text: order.text.slice(0, 50), options',
    { file: 'test/journey/libretranslate.test.ts', names: 'more texts than an engine takes' },
  ),
  bug(
    'a region of Chinese is answered in simplified Chinese',
    'targetNamed',
    "base?.toLowerCase() === 'zh' ? undefined : firstOf(base, find)",
    'firstOf(base, find)',
    { file: 'test/unit/plugins/facades/code-names.test.ts' },
  ),
  bug('a script is taken for a region', 'WITH_REGION', '-(?:[A-Za-z]{2}|\\d{3})$/', '-(?:[A-Za-z]{2,4}|\\d{3})$/', {
    file: 'test/unit/plugins/facades/code-names.test.ts',
  }),
  bug(
    'a key in the query counts as one in the body',
    'bodyKeyStep.run',
    'credentialOf(read.sound.get(member), services)',
    'credentialOf(read.sound.get(member) ?? keyInQuery(x.head.query, member), services)',
    { file: 'test/journey/google-v2.test.ts', names: 'with key_in_body' },
  ),
  bug(
    'a lenient path takes what a wildcard answers as it was sent',
    'Router.#matchLenient',
    ' || (wildcard !== undefined && !isBelow(written, wildcard))',
    '',
    LENIENT,
  ),
  bug(
    'spare slashes do not matter anywhere',
    'Router.#matchLenient',
    'if (entry?.lenient !== undefined) return entry;',
    'if (entry !== undefined) return entry;',
    LENIENT,
  ),
  bug(
    'what is refused before it is read is not told in its own form',
    'Gateway.#openRefused',
    'problemForm === undefined ? this.#refused : this.#refusedIn(problemForm)',
    'this.#refused',
    { file: 'test/journey/fronts.test.ts', names: 'whose end is unclear' },
  ),
  bug(
    'a custom system that was asked for is ignored',
    'OPTIONS',
    "refused('category', 'general', 'has no custom systems', 400_002),",
    "unused('category', ['general', 'mine']),",
    { file: 'test/unit/plugins/azure-v3/azure-3-0.test.ts' },
  ),
  bug(
    'of several works only the last is called off',
    'SharedCancellation.#notify',
    'const listeners = [...this.#listeners.values()];',
    'const listeners = [...this.#listeners.values()].slice(-1);',
    { file: 'test/unit/core/shared-cancellation.test.ts' },
  ),
];
