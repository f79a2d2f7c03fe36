// Routing: exact paths, parameters, and chains for requests that match nothing.
import { describe, expect, test } from 'vitest';
import { json } from '../../../src/core/outcome.ts';
import type { RouteSpec } from '../../../src/core/route.ts';
import { Router } from '../../../src/core/router.ts';
import type { HeadStep } from '../../../src/core/pipeline.ts';

const answer: HeadStep = { kind: 'head', name: 'answer', run: () => json('{}') };
const route = (method: string, path: string): RouteSpec => ({ method, path, takesBody: false, steps: [answer] });

const router = new Router([
  route('GET', '/a'),
  route('POST', '/g'),
  route('GET', '/g'),
  route('GET', '/g/{id}'),
  route('DELETE', '/g/{id}'),
  route('GET', '/g/{id}/e'),
  route('POST', '/p/{one}:go'),
  route('POST', '/p/{one}/in/{two}:go'),
  route('GET', '/p/{one}/in/{two}/all'),
]);

function match(method: string, path: string, among = router): string {
  const { route: found, parameter } = among.match(method, path);
  return parameter === '' ? found.name : `${found.name} ${parameter}`;
}

describe('the router', () => {
  test.each([
    ['GET', '/a', 'GET /a'],
    ['GET', '/g/1', 'GET /g/{id} 1'],
    ['DELETE', '/g/%2F', 'DELETE /g/{id} %2F'],
    ['GET', '/g/1/e', 'GET /g/{id}/e 1'],
    ['POST', '/p/x:go', 'POST /p/{one}:go x'],
    ['POST', '/p/x:go:go', 'POST /p/{one}:go x:go'],
    ['POST', '/p/x/in/y:go', 'POST /p/{one}/in/{two}:go x'],
    ['POST', '/p/in/in/in:go', 'POST /p/{one}/in/{two}:go in'],
    ['GET', '/p/x/in/y/all', 'GET /p/{one}/in/{two}/all x'],
    ['POST', '/p/:go', 'not_found'],
    ['POST', '/p/x/in/:go', 'not_found'],
    ['POST', '/p//in/y:go', 'not_found'],
    ['POST', '/p/x/in/y/z:go', 'not_found'],
    ['POST', '/p/x/y/in/z:go', 'not_found'],
    ['POST', '/p/x/in/in/y:go', 'not_found'],
    ['GET', '/a/', 'not_found'],
    ['GET', '/A', 'not_found'],
    ['GET', '/g/', 'not_found'],
    ['GET', '/g//e', 'not_found'],
    ['GET', '/g/1/2/e', 'not_found'],
    ['GET', '/%61', 'not_found'],
    ['GET', '//a', 'not_found'],
    ['GET', '', 'not_found'],
    ['GET', '/__proto__', 'not_found'],
    ['POST', '/a', 'method_not_allowed'],
    ['get', '/a', 'method_not_allowed'],
    ['HEAD', '/a', 'method_not_allowed'],
    ['PUT', '/g/1', 'method_not_allowed 1'],
  ])('%s %s is %s', (method, path, expected) => {
    expect(match(method, path)).toBe(expected);
  });

  test('a wrong method is answered with the allowed ones', () => {
    const { route: found } = router.match('PATCH', '/g');
    expect(found.steps.at(-1)!.run({} as never)).toMatchObject({
      problem: { code: 'method_not_allowed', headers: [['Allow', 'POST, GET']] },
    });
  });

  test('a route listed twice is refused', () => {
    expect(() => new Router([route('GET', '/a'), route('GET', '/a')])).toThrow('route GET /a is listed twice');
  });
});

describe('a lenient route', () => {
  const spec = (method: string, path: string, about: 'slashes' | 'letters'): RouteSpec => ({ ...route(method, path), lenient: about });
  const lenient = new Router([
    route('GET', '/v1/t'),
    spec('POST', '/v2/t', 'slashes'),
    spec('GET', '/v2/g/{id}/e', 'slashes'),
    spec('*', '/v2/*', 'slashes'),
    spec('POST', '/t', 'letters'),
    spec('GET', '/deep/a/t', 'letters'),
    spec('GET', '/deep/*', 'letters'),
    route('GET', '/T/*'),
    route('GET', '/s'),
    spec('GET', '/s/', 'slashes'),
    route('GET', '/x/{id}'),
  ]);

  test.each([
    ['POST', '/v2/t', 'POST /v2/t'],
    ['POST', '//v2/t', 'POST /v2/t'],
    ['POST', '/v2///t//', 'POST /v2/t'],
    ['GET', '//v2//g/7//e/', 'GET /v2/g/{id}/e 7'],
    // Letters matter there.
    ['POST', '/v2/T', '* /v2/*'],
    ['POST', '/V2/t', 'not_found'],
    ['POST', '/t/', 'POST /t'],
    ['POST', '//T/', 'POST /t'],
    ['GET', '/deep/A/T', 'GET /deep/a/t'],
    ['GET', '/DEEP//a/t/', 'GET /deep/a/t'],
    ['GET', '/deep/b', 'GET /deep/*'],
    // Every other route stays exact.
    ['GET', '/v1/t/', 'not_found'],
    ['GET', '//v1/t', 'not_found'],
    ['GET', '/V1/t', 'not_found'],
    ['GET', '/x/1/', 'not_found'],
    ['GET', '//x/1', 'not_found'],
    // What a route answers as it was sent is not taken from it.
    ['GET', '/T', 'GET /T/*'],
    ['GET', '/T/a', 'GET /T/*'],
    ['GET', '/s', 'GET /s'],
    ['GET', '/s/', 'GET /s/'],
    ['GET', '//s', 'not_found'],
    // Neither dots nor escapes are resolved, and no other letter becomes an ASCII one.
    ['POST', '/v2/./t', 'not_found'],
    ['POST', '/v2/g/../t', 'not_found'],
    ['POST', '/v2%2Ft', 'not_found'],
    ['POST', '/v2/%74', '* /v2/*'],
    ['GET', '/deep/a/\u0130', 'not_found'],
    ['POST', '/', 'not_found'],
    ['POST', '///', 'not_found'],
    // Other methods are refused there as on the exact path, and a route for every method takes them all.
    ['PUT', '//v2/t/', 'method_not_allowed'],
    ['FOO', '/v2/none', '* /v2/*'],
  ])('%s %s is %s', (method, path, expected) => {
    expect(match(method, path, lenient)).toBe(expected);
  });

  test('two paths that differ only in letters cannot both be lenient about them', () => {
    expect(() => new Router([spec('GET', '/Aa', 'letters'), spec('GET', '/aA', 'letters')])).toThrow('routes /Aa and /aA differ only');
  });
});
