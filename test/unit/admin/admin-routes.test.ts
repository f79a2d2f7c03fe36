// The manual's table of the admin API: every operation, with all of its query parameters and all members of its body.
import { expect, test } from 'vitest';
import { ADMIN_PREFIX, ADMIN_ROUTES } from '../../../src/admin/admin-routes.ts';
import { manualSection } from '../../support/manual.ts';

const SECTION = manualSection('teams-and-keys', 'The admin API');

interface Listed {
  readonly query: readonly string[];
  readonly body: readonly string[];
}

/** What the manual says of each operation, by `GET /teams/{id}`. A method without a path has the path before it. */
function listed(): ReadonlyMap<string, Listed> {
  const operations = new Map<string, Listed>();
  const limits = /Limits are ([^;]*)/.exec(SECTION)![1]!;
  const limitNames = [...limits.matchAll(/`(\w+)`/g)].map(([, name]) => name!).filter((name) => name !== 'null');
  const members = (text: string): string[] => text.split(', ').flatMap((one) => (one === '…limits' ? limitNames : [one.replace('?', '')]));
  for (const row of SECTION.split('\n').filter((line) => line.startsWith('| `'))) {
    let path = '';
    let latest = '';
    for (const [, span] of row.split(' | ')[0]!.matchAll(/`([^`]+)`/g)) {
      const [, method, target] = /^(GET|POST|PUT|PATCH|DELETE)(?: (.+))?$/.exec(span!) ?? [];
      if (method !== undefined) {
        const [own, query = ''] = (target ?? path).split('?');
        path = own!;
        latest = `${method} ${path.replace(ADMIN_PREFIX, '')}`;
        const given = target === undefined || query === '' ? [] : query.split('&').map((one) => one.replace('=', ''));
        operations.set(latest, { query: given, body: [] });
      } else {
        const before = operations.get(latest)!;
        operations.set(latest, { ...before, body: [...before.body, ...members(span!.slice(1, -1))] });
      }
    }
  }
  return operations;
}

test('the manual lists every operation of the admin API, and no other', () => {
  expect([...listed().keys()].toSorted()).toEqual(ADMIN_ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted());
});

test.each(ADMIN_ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'the manual has the parameters and the members of %s',
  (name, { query = {}, body }) => {
    const said = listed().get(name)!;
    expect(said.query.toSorted()).toEqual(Object.keys(query).toSorted());
    expect(said.body.toSorted()).toEqual(Object.keys(body?.properties ?? {}).toSorted());
  },
);
