// URLs of stores and engines: parsed correctly, and never shown with their secrets.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storeKindOf, withoutCredentials } from '../../../src/domain/store-url.ts';
import { StoreError } from '../../../src/domain/store-unavailable.ts';
import { readEngineUrl } from '../../../src/engines/http1/origin.ts';
import { parseRedisUrl } from '../../../src/stores/redis/redis-url.ts';
import { countedRuns } from './counted-runs.ts';
import { anyText, nearMisses } from './near-misses.ts';

const RUNS = countedRuns('URLs of stores and engines', 1000);
const SECRET = 'hunter2hunter2';

const port = fc.integer({ min: 1, max: 65_535 });
const hostPort = fc.record({ host: fc.oneof(fc.domain(), fc.ipV4()), port });
const shownHost = ({ host, port: number }: { readonly host: string; readonly port: number }): string => `${host}:${number}`;
const credentials = fc.record({ username: fc.constantFrom('', 'app', 'ü@:/'), password: anyText.filter((password) => password !== '') });
const userInfo = ({ username, password }: { readonly username: string; readonly password: string }): string =>
  `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;

describe('Redis', () => {
  test('one server: every part there and back', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        hostPort,
        fc.option(credentials),
        fc.option(fc.integer({ min: 0, max: 99_999 })),
        (tls, server, user, database) => {
          const url = `redis${tls ? 's' : ''}://${user === null ? '' : userInfo(user)}${shownHost(server)}${database === null ? '' : `/${database}`}`;
          expect(storeKindOf(url)).toBe('redis');
          expect(parseRedisUrl(url)).toMatchObject({
            kind: 'server',
            tls,
            server,
            database: database ?? 0,
            username: user === null || user.username === '' ? undefined : user.username,
            password: user?.password,
          });
        },
      ),
      RUNS,
    );
  });

  test('clusters and sentinels: every host', () => {
    fc.assert(
      fc.property(fc.array(hostPort, { minLength: 1, maxLength: 6 }), fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/), (hosts, name) => {
        const list = hosts.map(shownHost).join(',');
        expect(parseRedisUrl(`redis+cluster://${list}`)).toMatchObject({ kind: 'cluster', nodes: hosts });
        expect(parseRedisUrl(`redis+sentinel://${list}/${name}`)).toMatchObject({ kind: 'sentinel', sentinels: hosts, name });
      }),
      RUNS,
    );
  });

  test('a nearly valid one is parsed, or refused in one line that contains nothing of it', () => {
    const urls = fc
      .tuple(fc.constantFrom('redis', 'rediss', 'redis+cluster', 'redis+sentinel'), hostPort, fc.constantFrom('', '/0', '/name', '/name/1'))
      .map(([scheme, server, path]) => `${scheme}://:${SECRET}@${shownHost(server)}${path}`);
    fc.assert(
      fc.property(nearMisses(urls), (url) => {
        const outcome = outcomeOf(() => parseRedisUrl(url).shown);
        expect(outcome.thrown === undefined || outcome.thrown instanceof StoreError).toBe(true);
        const said = outcome.thrown instanceof Error ? outcome.thrown.message : (outcome.value ?? '');
        expect(said).not.toMatch(/[\r\n]/);
        expect(said).not.toContain(SECRET);
      }),
      RUNS,
    );
  });
});

describe('the displayed URL of a store', () => {
  test('never contains a password or a query, wherever an @, a slash or a question mark is', () => {
    const odd = fc.string({ unit: fc.constantFrom('@', '/', '?', ':', '#', '%', ' ', 'a', '\n') });
    fc.assert(
      fc.property(odd, odd, hostPort, (before, behind, server) => {
        const url = `redis://user:${before}${SECRET}${behind}@${shownHost(server)}/0?password=${SECRET}`;
        // The slashes may be mistyped, too.
        for (const written of [url, url.replace('://', ':/'), url.replace('://', ':')])
          expect(withoutCredentials(written)).not.toContain(SECRET);
      }),
      RUNS,
    );
  });

  test('is the whole path of a SQLite file', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9._ -][A-Za-z0-9._ /-]{0,40}$/), (path) => {
        expect([storeKindOf(`sqlite:${path}`), withoutCredentials(`sqlite:${path}`)]).toEqual(['sqlite', `sqlite:${path}`]);
      }),
      RUNS,
    );
  });
});

describe('engines', () => {
  test('http and https, a host, perhaps a port and a path: there and back', () => {
    const path = fc.stringMatching(/^(?:\/[a-z0-9-]{1,8}){0,4}$/);
    fc.assert(
      fc.property(fc.constantFrom('http', 'https'), hostPort, path, (scheme, server, below) => {
        const url = readEngineUrl(`${scheme}://${shownHost(server)}${below}`);
        expect([url.protocol, url.hostname, url.pathname]).toEqual([`${scheme}:`, server.host.toLowerCase(), below === '' ? '/' : below]);
      }),
      RUNS,
    );
  });

  test('a nearly valid one is parsed or refused, and a password is never quoted', () => {
    const urls = fc
      .tuple(
        fc.constantFrom('http', 'https', 'ftp', 'file'),
        fc.constantFrom('', `user:${SECRET}@`),
        hostPort,
        fc.constantFrom('', '/a', '?a=b', '#c'),
      )
      .map(([scheme, user, server, rest]) => `${scheme}://${user}${shownHost(server)}${rest}`);
    fc.assert(
      fc.property(nearMisses(urls), (text) => {
        const { value: url, thrown } = outcomeOf(() => readEngineUrl(text));
        const sound =
          url === undefined || (/^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '');
        expect(sound).toBe(true);
        const message = thrown instanceof Error ? thrown.message : '';
        expect(message.includes(SECRET)).toBe(false);
      }),
      RUNS,
    );
  });
});

function outcomeOf<T>(action: () => T): { readonly value?: T; readonly thrown?: unknown } {
  try {
    return { value: action() };
  } catch (thrown) {
    return { thrown };
  }
}
