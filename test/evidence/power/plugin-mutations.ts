// Planted bugs in endpoints and in plugins: their routes, forms, deadlines, and documentation.
import type { Mutation, TestRun } from './mutation.ts';

const ROUTES: TestRun = { file: 'test/unit/app/plugin-routes.test.ts' };

function journey(names: string): TestRun {
  return { file: 'test/journey/plugin-routes.test.ts', names };
}

function bug(name: string, file: string, find: string, replace: string, caughtBy: TestRun): Mutation {
  return { name, edits: [{ file: `src/${file}`, find, replace }], caughtBy: [caughtBy] };
}

export const PLUGIN_MUTATIONS: readonly Mutation[] = [
  bug('a plugin answers for a route of ours', 'app/plugin-routes.ts', 'pathsOverlap(path, route.path)', 'path === route.path', ROUTES),
  bug('a plugin takes the name of a step of ours', 'app/plugin-routes.ts', 'shared.has(name) || ', '', ROUTES),
  bug(
    'glossaries are not found because the store is away',
    'endpoints/glossary-endpoints.ts',
    'if (isUnavailable(list)) return STORE_UNAVAILABLE;',
    'if (isUnavailable(list)) return NOT_FOUND;',
    { file: 'test/unit/endpoints/store-away.test.ts' },
  ),
  bug(
    'a hasty attempt has all the time in the world',
    'engines/balancer.ts',
    'work.attemptMs === undefined ? this.#terms',
    'work.requestId.length > 0 ? this.#terms',
    journey('its own deadline'),
  ),
  bug(
    'the log says another status than the caller was told',
    'steps/access-log.ts',
    'x.route.problemForm?.status(problem) ?? ',
    '',
    journey('log and metrics'),
  ),
  bug(
    'a broken escape is repaired',
    'domain/form-body.ts',
    'decodeURIComponent(pair.slice(equals + 1))',
    "new URLSearchParams(`x=${pair.slice(equals + 1)}`).get('x')!",
    { file: 'test/unit/domain/form-body.test.ts' },
  ),
  bug(
    'several targets are charged as one',
    'plugins/azure-v3/azure-parameters.ts',
    "texts.sound.characters * Math.max(1, query.get('to')?.length ?? 0)",
    'texts.sound.characters',
    { file: 'test/unit/plugins/azure-v3/azure-parameters.test.ts' },
  ),
  bug(
    'a custom system that was asked for is ignored',
    'plugins/azure-v3/azure-parameters.ts',
    "value.toLowerCase() !== 'general'",
    "value === ''",
    { file: 'test/unit/plugins/azure-v3/azure-parameters.test.ts' },
  ),
  bug(
    'of several works only the last is called off',
    'core/shared-cancellation.ts',
    'const listeners = [...this.#listeners.values()];',
    'const listeners = [...this.#listeners.values()].slice(-1);',
    { file: 'test/unit/core/shared-cancellation.test.ts' },
  ),
];
