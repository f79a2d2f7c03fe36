// A gateway after SIGTERM: what it still serves, for how long, and what is aborted.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { V1 } from '../../support/fronts.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { logged, openSite, opsPage, translate } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { LISTENERS } from '../../support/listeners.ts';

let site: Site;

beforeEach(async () => {
  site = await openSite();
});

afterEach(() => site.close());

test.each(LISTENERS)(
  'with a drain delay (%s listener) everything is served while probes already fail, then the port closes',
  async (listener) => {
    await site.configure({ listener, engine: { urls: [site.engine.url] }, limits: { drain_delay_seconds: 4 } });
    const gateway = await site.serve();
    const persistent = await RawConnection.open({ port: gateway.port });
    const bytes = requestBytes(V1.translation(site.team.key, ['0123456789']));
    const ended = gateway.end('SIGTERM');
    await expect
      .poll(() => opsPage(gateway, '/readyz'))
      .toBe('503 {"ready":false,"store":{"ok":true},"engines":{"default":{"ok":true}},"clock":{"ok":true},"draining":true}\n');
    expect(await opsPage(gateway, '/livez')).toBe('200 ok\n');
    expect((await request({ port: gateway.port, path: '/health' })).status).toBe(503);
    expect((await translate(gateway.port, site.team.key)).headers['connection']).not.toBe('close');
    persistent.send(bytes);
    expect((await persistent.response()).headers['connection']).not.toBe('close');
    const refused = async (): Promise<unknown> =>
      RawConnection.open({ port: gateway.port }).then(
        (connection) => connection.destroy(),
        (error: NodeJS.ErrnoException) => error.code,
      );
    await expect.poll(refused).toBe('ECONNREFUSED');
    // The connection that is still open gets its last answer.
    persistent.send(bytes);
    const last = await persistent.response();
    expect([last.status, last.headers['connection']]).toEqual([200, 'close']);
    expect(await persistent.ended).toBe('fin');
    expect(await ended).toBe(0);
    expect(logged(gateway, 'request').filter(({ status }) => status === 200)).toHaveLength(3);
  },
);

test.each(LISTENERS)(
  'hanging requests are aborted at the drain deadline (%s listener) and released, and the exit status is still 0',
  async (listener) => {
    await site.configure({ listener, engine: { urls: [site.engine.url] }, limits: { drain_seconds: 1 } });
    const gateway = await site.serve();
    site.engine.always('hang');
    const answer = translate(gateway.port, site.team.key).catch(() => 'cut');
    await site.engine.until(() => site.engine.requests.length === 1);
    expect(await gateway.end('SIGTERM')).toBe(0);
    expect(await answer).toBe('cut');
    expect(logged(gateway, 'requests cut at the drain deadline')).toMatchObject([{ count: 1 }]);
    expect(await site.store.teams.standing(site.team.teamId)).toMatchObject({ usedCharacters: 0, openReservations: 0 });
  },
);
