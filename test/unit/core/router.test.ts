// Routing: exact paths, parameters, and chains for requests that match nothing.
import { describe, expect, test } from 'vitest';
import { json } from '../../../src/core/outcome.ts';
import { placeSteps } from '../../../src/core/step-placement.ts';
import { compileRoute, specOf } from '../../../src/core/route.ts';
import type { RouteRow, RouteSpec } from '../../../src/core/route.ts';
import { Router } from '../../../src/core/router.ts';
import type { BodyStep, HeadStep } from '../../../src/core/step.ts';

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

function match(method: string, path: string): string {
  const { route: found, parameter } = router.match(method, path);
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
  const spec = (method: string, path: string, lenient?: 'slashes' | 'letters'): RouteSpec =>
    lenient === undefined ? route(method, path) : { ...route(method, path), lenient };
  const lenient = new Router([
    spec('GET', '/v1/t'),
    spec('POST', '/v2/t', 'slashes'),
    spec('GET', '/v2/g/{id}/e', 'slashes'),
    spec('*', '/v2/*', 'slashes'),
    spec('POST', '/t', 'letters'),
    spec('GET', '/deep/a/t', 'letters'),
    spec('GET', '/deep/*', 'letters'),
    spec('GET', '/T/*'),
    spec('GET', '/s'),
    spec('GET', '/s/', 'slashes'),
    spec('GET', '/x/{id}'),
  ]);
  const found = (method: string, path: string): string => {
    const { route: one, parameter } = lenient.match(method, path);
    return parameter === '' ? one.name : `${one.name} ${parameter}`;
  };

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
  ])('%s %s is %s', (method, path, expected) => {
    expect(found(method, path)).toBe(expected);
  });

  test.each([
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
  ])('has no part in %s %s: %s', (method, path, expected) => {
    expect(found(method, path)).toBe(expected);
  });

  test('other methods are refused there as on the exact path, and a route for every method takes them all', () => {
    expect(found('PUT', '//v2/t/')).toBe('method_not_allowed');
    expect(found('FOO', '/v2/none')).toBe('* /v2/*');
  });

  test('two paths that differ only in letters cannot both be lenient about them', () => {
    expect(() => new Router([spec('GET', '/Aa', 'letters'), spec('GET', '/aA', 'letters')])).toThrow('routes /Aa and /aA differ only');
  });
});

describe('placing steps', () => {
  const step = (name: string): BodyStep => ({ kind: 'body', name, run: () => undefined });
  const rows: RouteRow[] = [
    { method: 'POST', path: '/t', takesBody: true, steps: ['answer', 'read', 'admit'] },
    { method: 'GET', path: '/u', takesBody: false, steps: ['answer', 'admit'] },
  ];
  const names = (placed: readonly RouteRow[]) => placed.map(({ steps }) => steps.join(' '));

  test('a step comes after the one it names, in every route that has it; several keep their order', () => {
    const placed = placeSteps(rows, [
      { step: step('p'), after: 'admit' },
      { step: step('q'), after: 'admit' },
      { step: step('r'), after: 'p' },
    ]);
    expect(names(placed)).toEqual(['answer read admit p r q', 'answer admit p r q']);
  });

  test('a step can be for one route only', () => {
    expect(names(placeSteps(rows, [{ step: step('p'), after: 'admit', routes: ['GET /u'] }]))).toEqual([
      'answer read admit',
      'answer admit p',
    ]);
  });

  test('a placement that is impossible is refused with a list of the steps or routes', () => {
    expect(() => placeSteps(rows, [{ step: step('p'), after: 'nope' }])).toThrow(
      'step "p": no route has a step "nope"; there are answer, read, admit',
    );
    expect(() => placeSteps(rows, [{ step: step('p'), after: 'read', routes: ['GET /x'] }])).toThrow('there is no route "GET /x"');
  });

  test('the same step may be placed twice; another one with its name, or with the name of one of ours, is refused', () => {
    const p = step('p');
    const twice = [
      { step: p, after: 'admit', routes: ['GET /u'] },
      { step: p, after: 'read', routes: ['POST /t'] },
    ];
    expect(names(placeSteps(rows, twice))).toEqual(['answer read p admit', 'answer admit p']);
    expect(() =>
      placeSteps(rows, [
        { step: p, after: 'read' },
        { step: step('p'), after: 'admit' },
      ]),
    ).toThrow('step "p": another step has this name');
    expect(() => placeSteps(rows, [{ step: step('admit'), after: 'read' }])).toThrow('step "admit": another step has this name');
  });

  test('names become steps, and an unknown one is named', () => {
    const steps = new Map([['answer', answer]]);
    expect(specOf({ ...rows[1]!, steps: ['answer'] }, steps).steps).toEqual([answer]);
    expect(() => specOf(rows[1]!, steps)).toThrow('route GET /u: there is no step "admit"');
  });

  test('a chain with a head step after a body step, or with two steps of one name, is refused at boot', () => {
    expect(() => compileRoute({ ...rows[0]!, steps: [step('read'), answer] })).toThrow('head step "answer" comes after a body step');
    expect(() => compileRoute({ ...rows[0]!, steps: [step('read'), step('read')] })).toThrow('two steps are called "read"');
  });
});
