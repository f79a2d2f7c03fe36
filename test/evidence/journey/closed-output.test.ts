// A gateway whose standard output is closed, or on a full disk: it keeps serving, charges as before, and stops cleanly.
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSite, translate } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { freePort } from '../../support/free-port.ts';
import { MAIN } from '../../support/lingate-command.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { launch, OWN_NODE } from '../../support/start-program.ts';

const REQUESTS = 40;

let site: Site;

beforeEach(async () => {
  site = await openSite();
});

afterEach(() => site.close());

const expectCharged = (): Promise<void> =>
  expect
    .poll(() => site.store.teams.standing(site.team.teamId))
    .toMatchObject({ usedCharacters: (1 + REQUESTS) * 10, openReservations: 0 });

test.each([...LISTENERS.map((listener) => [listener, '1'] as const), [LISTENERS[0], '2'] as const])(
  'with the %s listener and %s worker(s), after its output is closed it serves, and SIGTERM ends it with 0',
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
    await expectCharged();
    expect(await gateway.end('SIGTERM')).toBe(0);
  },
);

test('with a full disk under its log it serves, says so on standard error, and SIGTERM ends it', async () => {
  const port = await freePort();
  const full = await open('/dev/full', 'w');
  const args = site.args('--listen', `127.0.0.1:${port}`);
  const gateway = launch(OWN_NODE, [MAIN, ...args], { cwd: site.folder, env: bareEnvironment(), stdio: ['ignore', full.fd, 'pipe'] });
  await full.close();
  const status = (): Promise<number | undefined> =>
    translate(port, site.team.key).then(
      (response) => response.status,
      () => undefined,
    );
  await expect.poll(status).toBe(200);
  for (let sent = 0; sent < REQUESTS; sent++) expect(await status()).toBe(200);
  await expectCharged();
  gateway.child.kill('SIGTERM');
  const { status: exitStatus } = await gateway.ended;
  expect({ exitStatus, errors: gateway.output }).toEqual({
    exitStatus: 0,
    errors: 'lingate: the log cannot be written, and lines are lost: ENOSPC: no space left on device, write\n',
  });
});
