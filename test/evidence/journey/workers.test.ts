// serve --workers N: several processes on one port that start, answer, die and stop together.
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lingate } from '../../support/lingate-command.ts';
import { QUOTA_PLAN, makeTeam } from '../../support/gateway.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { V1 } from '../../support/fronts.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { logged, openSite, opsPage, translate, workersOf } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { LISTENERS } from '../../support/listeners.ts';

let site: Site;

beforeEach(async () => {
  site = await openSite();
});

afterEach(() => site.close());

/** Sockets that listen on the port: one for each worker. */
function listeningOn(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.filter((line) => line.includes(` ${address} 00000000:0000 0A `)).length;
}

async function counterOf(gateway: GatewayProcess, name: string): Promise<number> {
  const lines = (await opsPage(gateway, '/metrics')).split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

async function expectGone(pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
}

const TOKEN = 'workers'.repeat(5);

// One gateway for all of them, which the last stops: its three processes take longer to start than the tests themselves.
describe.each(LISTENERS)('two workers with the %s listener', (listener) => {
  let place: Site;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    place = await openSite();
    await place.configure({
      listener,
      engine: { urls: [place.engine.url] },
      admin: { token: TOKEN },
      plans: { pro: QUOTA_PLAN },
      team_metrics: { every_seconds: 1 },
    });
    gateway = await place.serve('--workers', '2');
  });

  afterAll(() => place.close());

  test('share one free port, report once that they are ready, and share a quota exactly', async () => {
    expect(workersOf(gateway)).toHaveLength(2);
    expect(listeningOn(gateway.port)).toBe(2);
    expect(gateway.output().match(/is ready on/g)).toHaveLength(1);
    const team = await makeTeam(place.store, { ...QUOTA_PLAN, characters: 500 });
    const answers = await Promise.all(Array.from({ length: 90 }, () => translate(gateway.port, team.key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(40);
    // Every worker served some, and the operator sees the sum.
    await expect.poll(() => counterOf(gateway, 'lingate_requests_total{route="POST /v1/translate"')).toBe(90);
    await expect.poll(() => place.store.teams.standing(team.teamId)).toMatchObject({ usedCharacters: 500, heldCharacters: 0 });
  });

  test('the port stays exclusive: a second gateway on it, with workers or without, fails in one clear line', async () => {
    const same = ['--listen', `127.0.0.1:${gateway.port}`];
    const attempts = ['1', '2'].map((workers) => lingate(place.args(...same, '--workers', workers)));
    for (const { status, stderr } of await Promise.all(attempts)) {
      expect(stderr).toBe(
        `lingate serve: cannot listen on 127.0.0.1:${gateway.port}: the port is in use; stop what listens there, or choose another port\n`,
      );
      expect(status).toBe(1);
    }
    expect(listeningOn(gateway.port)).toBe(2);
  });

  test('a plan that is raised by the admin API holds in each at once, also for a team whose flood they refuse themselves', async () => {
    for (let round = 0; round < 5; round++) {
      const team = await makeTeam(place.store, { ...QUOTA_PLAN, requests_per_second: 1 });
      const flood = () => Promise.all(Array.from({ length: 20 }, () => translate(gateway.port, team.key)));
      expect((await flood()).map(({ status }) => status)).toContain(429);
      const changed = await request({
        port: Number(new URL(gateway.opsUrl).port),
        method: 'PATCH',
        path: `/admin/v1/teams/${team.teamId}`,
        headers: { host: '127.0.0.1', authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ plan: 'pro' }),
      });
      expect(changed.status).toBe(200);
      expect(new Set((await flood()).map(({ status }) => status))).toEqual(new Set([200]));
    }
  });

  test('on SIGTERM all finish what is in flight, charge it, and exit with 0', async () => {
    const pids = workersOf(gateway);
    const held: ServerResponse[] = [];
    place.engine.always((_request, response) => void held.push(response));
    const answers = Array.from({ length: 12 }, () => translate(gateway.port, place.team.key));
    await expect.poll(() => held.length).toBe(12);
    const ended = gateway.end('SIGTERM');
    await expect.poll(() => opsPage(gateway, '/readyz')).toMatch(/^503/);
    await expect.poll(() => listeningOn(gateway.port)).toBe(0);
    // First all ports are closed, then each worker announces with its answers that it closes.
    await expect.poll(() => logged(gateway, 'a worker is stopping')).toHaveLength(2);
    for (const response of held) response.end('{"translations":[{"text":"late"}]}');
    for (const answer of await Promise.all(answers)) {
      expect([answer.status, answer.headers['connection']]).toEqual([200, 'close']);
    }
    expect(await ended).toBe(0);
    await expectGone(pids);
    expect(await place.store.teams.standing(place.team.teamId)).toMatchObject({ usedCharacters: 120, openReservations: 0 });
    expect(logged(gateway, 'lingate has stopped')).toHaveLength(1);
  });
});

test('a worker that dies is replaced, later each time; until then the gateway is not ready, and no counter falls', async () => {
  const gateway = await site.serve('--workers', '2');
  for (let i = 0; i < 20; i++) expect((await translate(gateway.port, site.team.key)).status).toBe(200);
  const counted = (): Promise<number> => counterOf(gateway, 'lingate_requests_total{route="POST /v1/translate"');
  await expect.poll(counted).toBe(20);
  const [first, other] = workersOf(gateway) as [number, number];
  const served: number[] = [];
  const victims: number[] = [];
  for (let victim = first, deaths = 1; deaths <= 3; deaths++) {
    process.kill(victim, 'SIGKILL');
    victims.push(victim);
    const replacement = (): number | undefined => workersOf(gateway).find((pid) => pid !== other && !victims.includes(pid));
    await expect
      .poll(async () => {
        if ((await opsPage(gateway, '/readyz')).startsWith('503')) served.push((await translate(gateway.port, site.team.key)).status);
        return replacement();
      })
      .toBeDefined();
    victim = replacement()!;
  }
  // On a busy machine one of the three times may have been too short to be seen.
  expect([...new Set(served)]).toEqual([200]);
  await expect.poll(() => opsPage(gateway, '/readyz')).toMatch(/^200/);
  await expect.poll(counted).toBe(20 + served.length);
  expect(workersOf(gateway)).toHaveLength(2);
  expect(workersOf(gateway)).toContain(other);
  await expect.poll(() => listeningOn(gateway.port)).toBe(2);
  expect(logged(gateway, 'a worker has ended and is replaced')).toMatchObject(
    victims.map((pid, i) => ({ pid, ended: 'SIGKILL', in_ms: 100 * 2 ** i })),
  );
  expect(await gateway.end('SIGTERM')).toBe(0);
});

describe('the end of the primary', () => {
  test('when it is killed: the workers finish what is in flight, and leave the port', async () => {
    const gateway = await site.serve('--workers', '2');
    const pids = workersOf(gateway);
    const held: ServerResponse[] = [];
    site.engine.always((_request, response) => void held.push(response));
    const answers = Array.from({ length: 6 }, () => translate(gateway.port, site.team.key));
    await expect.poll(() => held.length).toBe(6);
    gateway.process.kill('SIGKILL');
    await expect.poll(() => listeningOn(gateway.port)).toBe(0);
    for (const response of held) response.end('{"translations":[{"text":"late"}]}');
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(200));
    await expectGone(pids);
    expect(await gateway.end('SIGKILL')).toBe('SIGKILL');
  });

  test('by a second signal: nothing is left running', async () => {
    const gateway = await site.serve('--workers', '2');
    const pids = workersOf(gateway);
    site.engine.always('hang');
    const connection = await RawConnection.open({ port: gateway.port });
    connection.send(requestBytes(V1.translation(site.team.key, ['Hello'])));
    await site.engine.until(() => site.engine.requests.length > 0);
    gateway.process.kill('SIGTERM');
    await expect.poll(() => logged(gateway, 'stopping')).toHaveLength(1);
    // Signals within the first half second count as one: a shell and npm may both pass on one Ctrl-C.
    const insist = setInterval(() => gateway.process.kill('SIGTERM'), 100);
    expect(await gateway.end('SIGTERM')).toBe(1);
    clearInterval(insist);
    await connection.ended;
    connection.destroy();
    await expectGone(pids);
  });
});

describe('workers that cannot start', () => {
  test.each<[string, readonly string[], RegExp]>([
    ['an unreachable store', ['--store', 'redis://127.0.0.1:1'], /^lingate serve: [^\n]*redis:\/\/127\.0\.0\.1:1[^\n]*\n$/],
    ['a foreign address', ['--listen', '192.0.2.1:8080'], /^lingate serve: cannot listen on 192\.0\.2\.1:8080: this machine[^\n]*\n$/],
  ])('%s is one clear line, and the process exits', async (_name, flags, line) => {
    const args = site.args('--workers', '2', ...flags);
    if (flags.includes('--store')) args.splice(args.indexOf('--store'), 2);
    const { status, stdout, stderr } = await lingate(args);
    expect(stderr).toMatch(line);
    expect(status).toBe(1);
    expect(stdout).not.toContain('ready');
  });
});
