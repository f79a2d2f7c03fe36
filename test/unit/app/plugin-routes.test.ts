// Which routes a plugin may add: none of ours is shadowed, and each refusal is one clear line.
import { describe, expect, test } from 'vitest';
import { routeRows } from '../../../src/app/route-rows.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { NO_PLUGINS } from '../../../src/config/plugins.ts';
import { pathsOverlap } from '../../../src/core/route.ts';
import type { LoadedRoute } from '../../../src/ports/plugin-route.ts';

function route(parts: Partial<LoadedRoute> = {}): LoadedRoute {
  return { plugin: 'other', method: 'GET', path: '/other', takesBody: false, steps: ['access-log', 'other-answer'], ...parts };
}

function linesOf(build: () => unknown): readonly string[] {
  try {
    build();
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
  return [];
}

const refusals = (...routes: readonly LoadedRoute[]): readonly string[] =>
  linesOf(() => routeRows({ forward: [], docs: { public: false }, documents: undefined }, { ...NO_PLUGINS, routes }));

describe('a route of a plugin is refused', () => {
  test.each([
    ['/v1/translate', 'POST /v1/translate'],
    ['/v1/glossaries/special', 'GET /v1/glossaries/{id}'],
    ['/v1/{what}', 'POST /v1/translate'],
    ['/{any}', 'GET /health'],
    ['/{any}/usage', 'GET /v1/usage'],
    ['/v1/glossaries/{id}/{part}', 'GET /v1/glossaries/{id}/entries'],
  ])('at %s, which would answer for %s', (path, ours) => {
    const [line = '', ...more] = refusals(route({ path }));
    expect(line).toBe(
      `plugins: route "GET ${path}" of plugin "other": "${ours}" is the gateway's own and cannot be replaced; choose another path`,
    );
    expect(more).toEqual([]);
  });

  test.each(['other', '/other//', '//other', '/', '/a?b', '/a#b', '/a/*/b', '/a*', '/*', '/a b', '/a/{b}{c}', '/a/{b', '/a/../b', '/%41'])(
    'at the path %s',
    (path) => {
      expect(refusals(route({ path }))[0]).toContain('the path must be like');
    },
  );

  test.each([
    [{ method: 'get' }, 'the method must be in capital letters'],
    [{ path: '/v1/other', lenient: 'slashes' as const }, 'paths below /v1 are exact'],
    [{ steps: ['shed', 'access-log'] }, 'its first step must be "access-log"'],
    [{ steps: [] }, 'its first step must be "access-log"'],
    [{ steps: ['access-log', 'identify', 'admit'] }, '"admit" must come after "authenticate"'],
    [{ steps: ['access-log', 'team-shed', 'identify', 'authenticate'] }, '"team-shed" must come after "authenticate"'],
  ])('with %j', (parts, reason) => {
    expect(refusals(route(parts))[0]).toContain(reason);
  });

  test('unless only a trailing slash tells its path from another', () => {
    expect(refusals(route({ path: '/other' }), route({ path: '/other/' }))).toEqual([]);
  });

  test('when another plugin has its path already, whatever the method; its own paths may overlap', () => {
    const own = [route({ path: '/a/{id}' }), route({ path: '/a/b' }), route({ path: '/a/b', method: 'PUT' })];
    expect(refusals(...own)).toEqual([]);
    expect(refusals(...own, route({ path: '/a/b' }))[0]).toContain('"GET /a/b" of plugin "other" already has this path');
    expect(refusals(...own, route({ path: '/a/c', plugin: 'third', method: 'POST' }))[0]).toContain('"GET /a/{id}" of plugin "other"');
  });

  test('with a hint at the option that gives up the path, if one of the two plugins has it', () => {
    const words = '"GET /a/b" of plugin "other" already has this path; with root: false of plugin "third" both can be used';
    const third = route({ path: '/a/b', plugin: 'third', whenTaken: 'root: false' });
    expect(refusals(route({ path: '/a/b' }), third)[0]).toContain(words);
    expect(refusals(third, route({ path: '/a/b' }))[0]).toContain(
      'already has this path; with root: false of plugin "third" both can be used',
    );
  });

  test('with a line for each', () => {
    expect(refusals(route({ path: '/health' }), route(), route({ path: '/v1/usage' }))).toHaveLength(2);
  });
});

test('paths overlap when some request path matches both', () => {
  expect(pathsOverlap('/a/{id}', '/a/b')).toBe(true);
  expect(pathsOverlap('/a/b', '/a/{id}')).toBe(true);
  expect(pathsOverlap('/a/{id}', '/{id}/b')).toBe(true);
  expect(pathsOverlap('/a/b', '/a/c')).toBe(false);
  expect(pathsOverlap('/a', '/a/b')).toBe(false);
});
