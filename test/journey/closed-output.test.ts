// A gateway whose log nobody reads any more: it goes on serving, charges as before, and stops as it should.
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSite, translate } from '../support/site.ts';
import type { Site } from '../support/site.ts';
import { LISTENERS } from '../support/listeners.ts';

/** With workers, four processes are started. */
vi.setConfig({ testTimeout: 60_000 });

const REQUESTS = 40;

let site: Site;

beforeEach(async () => {
  site = await openSite();
});

afterEach(() => site.close());

test.each([...LISTENERS.map((listener) => [listener, '1'] as const), [LISTENERS[0], '3'] as const])(
  'with the %s listener and %s worker(s), whoever read its output is gone: it serves, and SIGTERM ends it with 0',
  async (listener, workers) => {
    await site.configure({ listener, engine: { urls: [site.engine.url] } });
    const gateway = await site.serve('--workers', workers);
    expect((await translate(gateway.port, site.team.key)).status).toBe(200);
    const { stdout, stderr } = gateway.process;
    for (const pipe of [stdout!, stderr!]) {
      pipe.destroy();
      await once(pipe, 'close');
    }
    for (let sent = 0; sent < REQUESTS; sent++) expect((await translate(gateway.port, site.team.key)).status).toBe(200);
    await expect
      .poll(() => site.store.teams.standing(site.team.teamId))
      .toMatchObject({ usedCharacters: (1 + REQUESTS) * 10, openReservations: 0 });
    expect(await gateway.end('SIGTERM')).toBe(0);
  },
);
