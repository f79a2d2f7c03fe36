// The announced time of idle connections, and the libraries' timers; long/idle measures how long they are really kept.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IDLE_SECONDS } from '../../../src/server/listener.ts';
import { describeUws } from '../../../src/server/uws-build.ts';
import type { UwsApp, UwsBuild } from '../../../src/server/uws-build.ts';
import { setTimers } from '../../../src/server/uws-timers.ts';
import { OLDER } from '../../../src/server/uws-pins.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { UWS, UWS_COLUMN } from '../../support/listeners.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';

const SHORT_SECONDS = 5;

describe.each(LISTENERS)('the %s listener', (_name, start) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer(start, { idleSeconds: SHORT_SECONDS });
  });

  afterAll(() => server.close());

  test.each([
    ['GET', '/sync'],
    ['GET', '/async'],
    ['GET', '/nowhere'],
    ['HEAD', '/sync'],
    ['DELETE', '/thing'],
  ])('%s %s: an answer that keeps its connection announces for how long', async (method, path) => {
    const connection = await RawConnection.open(server);
    for (let i = 0; i < 2; i++) {
      connection.send(requestBytes({ method, path }));
      const { headers } = await connection.response({ head: method === 'HEAD' });
      // Named in Connection, as RFC 9110 section 7.6.1 requires.
      expect([headers['connection'], headers['keep-alive']]).toEqual(['keep-alive', `timeout=${SHORT_SECONDS}`]);
      expect(headers['cache-control']).toBe('no-store');
    }
    connection.destroy();
  });

  test('one that closes it announces nothing', async () => {
    const { headers } = await request({ port: server.port, path: '/sync', headers: { Connection: 'close' } });
    expect([headers['connection'], headers['keep-alive'], headers['cache-control']]).toEqual(['close', undefined, 'no-store']);
  });
});

describe('the timers of uWebSockets.js', () => {
  const build: Pick<UwsBuild, 'package' | 'version' | 'pinned'> = UWS ?? { package: OLDER.name, version: OLDER.version, pinned: true };

  function timersFor(idleSeconds: number): { readonly pending: number; readonly idle: number } {
    const said = { pending: 0, idle: 0 };
    const app: Partial<UwsApp> = {
      setIdleTimeout: (seconds) => void (said.pending = seconds),
      setResponseTimeout: (seconds) => void (said.idle = seconds),
    };
    setTimers(build, app as UwsApp, idleSeconds);
    return said;
  }

  test('that can be set never end an idle connection early, and do not change the time for unfinished requests', () => {
    for (let seconds = 1; seconds <= 900; seconds++) {
      const { pending, idle } = timersFor(seconds);
      // Steps of four seconds, the first of which may be nearly over; the library's limit is 960.
      expect((Math.ceil(idle / 4) - 1) * 4).toBeGreaterThanOrEqual(seconds);
      expect(idle).toBeLessThanOrEqual(960);
      expect(pending).toBe(10);
    }
  });

  test('that cannot be set keep connections for the default time, and refuse more in one line', () => {
    const app = {} as UwsApp;
    expect(() => setTimers(build, app, IDLE_SECONDS)).not.toThrow();
    expect(() => setTimers(build, app, IDLE_SECONDS + 1)).toThrow(
      `limits.idle_seconds: ${describeUws(build)} keeps idle connections for 8 seconds and cannot keep them for 9; lower it, use "listener: node", or a system with glibc 2.38 (Debian 13, Ubuntu 24.04)`,
    );
  });

  test.each(LISTENERS)('%s: more than the default works, except that the older build does not start', async (name, startListener) => {
    const start = startTestServer(startListener, { idleSeconds: 60 });
    if (name === 'uws' && UWS_COLUMN === 'older') {
      await expect(start).rejects.toMatchObject({ name: 'ListenError', reason: 'cannot_listen' });
      return;
    }
    const server = await start;
    expect((await request({ port: server.port, path: '/sync' })).headers['keep-alive']).toBe('timeout=60');
    server.close();
  });
});
