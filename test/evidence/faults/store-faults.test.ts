// The table of store faults in test/README.md, row by row: readiness, metrics, log and callers during each, and the recovery.
import { mkdir, mkdtemp, rename, rm, rmdir, chmod, link, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { describe, expect, test, vi } from 'vitest';
import type { TestContext } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import { teamSlot } from '../../support/door/stores.ts';
import { freePort } from '../../support/free-port.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis.ts';
import { launch, runProgram } from '../../support/start-program.ts';
import { TIMES_JUDGED } from '../scorecard/size.ts';
import { watchStalls } from './stall.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SEEN_MS_MAX = 2000;
/** Slightly longer than a state must last before it is logged again. */
const SETTLE_MS = 1600;
const READY = /ready on (http:\/\/[^ ]+:\d+), ops on (http:\/\/[^ ",]+:\d+)/;

/** A gateway as seen from outside. */
interface Scene {
  readonly url: string;
  readonly opsUrl: string;
  readonly team: TestTeam;
  readonly lines: () => readonly string[];
}

interface Fault {
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

interface Row {
  readonly name: string;
  /** One of these. */
  readonly cause: string | readonly string[];
  /** Whether it answers at all. */
  readonly up: 0 | 1;
  readonly make: (place: Place) => Promise<Broken>;
}

/** Everything that one test starts; tests run concurrently. */
class Place {
  readonly folder: string;
  readonly engineUrl: string;
  readonly #closing: (() => Promise<unknown>)[];

  constructor(folder: string, engineUrl: string, closing: (() => Promise<unknown>)[]) {
    this.folder = folder;
    this.engineUrl = engineUrl;
    this.#closing = closing;
  }

  static async make(onTestFinished: TestContext['onTestFinished']): Promise<Place> {
    const folder = await mkdtemp(join(tmpdir(), 'lingate-store-faults-'));
    const engine = await startScriptedEngine();
    const closing = [() => rm(folder, { recursive: true, force: true }), () => engine.close()];
    onTestFinished(async () => {
      for (const close of closing.toReversed()) await close();
    });
    return new Place(folder, engine.url, closing);
  }

  /** Closed after the test, the newest first. */
  closes<T>(thing: T, close: (thing: T) => unknown): T {
    this.#closing.push(async () => close(thing));
    return thing;
  }

  async gateway(store: string): Promise<TestGateway> {
    // The product's default, because how soon a fault shows depends on it.
    const config = { store_options: { command_timeout_ms: 500 } };
    const gateway = await startGateway({ listener: 'node', store, engineUrls: [this.engineUrl], config });
    return this.closes(gateway, (one) => one.stop());
  }

  async scene(store: string): Promise<Scene> {
    const gateway = await this.gateway(store);
    return sceneOf(gateway, await gateway.team());
  }

  async redis(args: readonly string[] = []): Promise<RedisServer> {
    return this.closes(await startRedis(args), (server) => server.stop());
  }
}

function sceneOf({ port, opsPort, logLines }: TestGateway, team: TestTeam): Scene {
  return { url: `http://127.0.0.1:${port}`, opsUrl: `http://127.0.0.1:${opsPort}`, team, lines: () => logLines };
}

interface Broken {
  readonly scene: Scene;
  readonly fault: Fault;
}

/** A Redis of its own; `fault` gets the test's own client. */
async function onRedis(place: Place, fault: (client: Redis) => Fault | Promise<Fault>): Promise<Broken> {
  const server = await place.redis();
  const client = place.closes(new Redis(server.port, '127.0.0.1', { protocol: 2 }), (one) => one.disconnect());
  client.on('error', () => undefined);
  return { scene: await place.scene(server.url), fault: await fault(client) };
}

async function onSqlite(place: Place, fault: (file: string) => Fault): Promise<Broken> {
  const file = join(place.folder, 'lingate.db');
  return { scene: await place.scene(`sqlite:${file}`), fault: fault(file) };
}

const ADMIN_TOKEN = 'a-token-of-the-operator-for-this-test';
const LANGUAGES = join(ROOT, 'config/languages.yaml');
const MOUNTS = ['-c', 'mount -t tmpfs -o size=2m none "$DISK" && exec "$@"', 'sh'];
const CAN_MOUNT = (await runProgram('unshare', ['--mount', 'mount', '--make-rprivate', '/'], { uses: ['mount'] })).status === 0;

/** A gateway whose file is on a small disk of its own, which only it has mounted. */
async function onSmallDisk(place: Place): Promise<Broken> {
  const disk = join(place.folder, 'disk');
  await mkdir(disk);
  const config = join(place.folder, 'lingate.yaml');
  const members = { listen: '127.0.0.1:0', ops: '127.0.0.1:0', listener: 'node', admin: { token: ADMIN_TOKEN }, languages: LANGUAGES };
  const store = `sqlite:${disk}/lingate.db`;
  // JSON is valid YAML.
  await writeFile(config, JSON.stringify({ ...members, store, engine: { urls: [place.engineUrl] } }));
  const gateway = launch(
    'unshare',
    ['--mount', 'sh', ...MOUNTS, process.execPath, join(ROOT, 'src/lingate.js'), 'serve', '--config', config],
    {
      env: { PATH: process.env['PATH'] ?? '', DISK: disk },
      uses: ['sh', 'mount'],
    },
  );
  place.closes(gateway, (program) => program.end());
  let output = '';
  gateway.child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await gateway.until(READY);
  const [, url, opsUrl] = READY.exec(gateway.output)!;
  // Through the gateway's process: SQLite would otherwise resolve the path into our own file system.
  const { team_id: teamId } = await create<{ team_id: string }>(`${opsUrl}/admin/v1/teams`, { name: 'Test', plan: 'pro' });
  const made = await create<{ key_id: string; key: string }>(`${opsUrl}/admin/v1/teams/${teamId}/keys`, { mode: 'live' });
  const team = { teamId, keyId: made.key_id, key: made.key };
  const filler = `/proc/${gateway.child.pid}/root${disk}/filler`;
  const fault = {
    // Until nothing fits any more; the last piece is written in part.
    begin: () => writeFile(filler, Buffer.alloc(4 * 1024 * 1024)).catch(() => undefined),
    end: () => rm(filler),
  };
  return { scene: { url: url!, opsUrl: opsUrl!, team, lines: () => output.split('\n') }, fault };
}

async function create<T>(url: string, body: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBe(201);
  return (await response.json()) as T;
}

const ROWS: readonly Row[] = [
  {
    name: 'Redis over maxmemory',
    cause: 'oom',
    up: 1,
    make: (place) =>
      onRedis(place, (client) => ({
        begin: () => client.config('SET', 'maxmemory', '1'),
        end: () => client.config('SET', 'maxmemory', '0'),
      })),
  },
  {
    name: 'Redis that has become a replica',
    cause: 'readonly',
    up: 1,
    make: async (place) => {
      const nobody = await freePort();
      return onRedis(place, (client) => ({ begin: () => client.replicaof('127.0.0.1', nobody), end: () => client.replicaof('NO', 'ONE') }));
    },
  },
  {
    name: 'Redis with too few replicas for min-replicas-to-write',
    cause: 'noreplicas',
    up: 1,
    make: (place) =>
      onRedis(place, (client) => ({
        begin: () => client.config('SET', 'min-replicas-to-write', '1'),
        end: () => client.config('SET', 'min-replicas-to-write', '0'),
      })),
  },
  {
    name: 'Redis whose snapshot failed',
    cause: 'misconf',
    up: 1,
    make: (place) =>
      onRedis(place, async (client) => {
        const [, directory] = (await client.config('GET', 'dir')) as [string, string];
        // A directory in the snapshot's place: the snapshot can be written, but not renamed to it.
        const obstacle = join(directory, 'dump.rdb');
        return {
          async begin() {
            await client.config('SET', 'save', '3600 1');
            await mkdir(obstacle);
            await client.bgsave();
          },
          async end() {
            await rmdir(obstacle);
            await client.bgsave();
          },
        };
      }),
  },
  {
    name: 'Redis that is frozen',
    cause: 'timeout',
    up: 0,
    async make(place) {
      const server = await place.redis();
      const kill = (signal: NodeJS.Signals) => Promise.resolve(server.process.kill(signal));
      return { scene: await place.scene(server.url), fault: { begin: () => kill('SIGSTOP'), end: () => kill('SIGCONT') } };
    },
  },
  {
    name: 'Redis that has died',
    // Another if a command was under way, or being written, in that moment.
    cause: ['ECONNREFUSED', 'closed', 'EPIPE', 'ECONNRESET'],
    up: 0,
    async make(place) {
      const persistent = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', place.folder];
      const server = await place.redis(persistent);
      return {
        scene: await place.scene(server.url),
        fault: { begin: () => server.stop(), end: () => place.redis([...persistent, '--port', String(server.port)]) },
      };
    },
  },
  {
    name: 'SQLite on a file made read-only',
    cause: 'read_only',
    up: 1,
    make: (place) => onSqlite(place, (file) => ({ begin: () => chmod(file, 0o444), end: () => chmod(file, 0o600) })),
  },
  {
    name: 'SQLite whose file was moved away',
    cause: 'vanished',
    up: 1,
    make: (place) => onSqlite(place, (file) => ({ begin: () => rename(file, `${file}.away`), end: () => rename(`${file}.away`, file) })),
  },
  {
    name: 'SQLite with another file in the place of its own',
    cause: 'replaced',
    up: 1,
    make: (place) =>
      onSqlite(place, (file) => ({
        // Without a moment in which there is none.
        async begin() {
          await link(file, `${file}.away`);
          await writeFile(`${file}.other`, '');
          await rename(`${file}.other`, file);
        },
        end: () => rename(`${file}.away`, file),
      })),
  },
  {
    name: 'SQLite whose write lock another program keeps',
    cause: 'busy',
    up: 0,
    make: (place) =>
      onSqlite(place, (file) => {
        const other = place.closes(new DatabaseSync(file), (database) => database.close());
        return {
          begin: () => Promise.resolve(other.exec('BEGIN IMMEDIATE')),
          end: () => Promise.resolve(other.exec('ROLLBACK')),
        };
      }),
  },
  // Where tests may not mount, the disk cannot be made small: `unit/stores/sqlite/group-commit` has a full file instead.
  ...(CAN_MOUNT ? [{ name: 'SQLite on a full disk', cause: 'full', up: 1, make: onSmallDisk } as const] : []),
];

// Concurrently, because they mostly wait for lines that must not appear.
describe.concurrent('a store', () => {
  test.for(ROWS)(
    '$name: not ready within two seconds, one line, and a recovery by itself',
    async ({ cause, up, make }, { onTestFinished }) => {
      const stalls = watchStalls();
      const { scene, fault } = await make(await Place.make(onTestFinished));
      await seen(scene, { ready: 200, writable: 1, up: 1 });
      // While others begin beside it, a gateway may shed its first requests.
      await vi.waitFor(async () => expect(await translate(scene)).toBe(200), { timeout: 10_000 });
      expect(storeLines(scene)).toEqual([]);

      const brokeAtMs = performance.now();
      await fault.begin();
      await seen(scene, { ready: 503, writable: 0, up });
      const tookMs = performance.now() - brokeAtMs;
      if (TIMES_JUDGED) expect(tookMs).toBeLessThan(SEEN_MS_MAX + 3 * stalls.longestMs());
      expect(await translate(scene)).toBe(503);
      // With callers that keep calling, and long enough for a second line to appear.
      for (const atMs = performance.now(); performance.now() - atMs < SETTLE_MS; await delay(100)) await translate(scene);
      expect(storeLines(scene)).toEqual([expect.objectContaining({ level: 'error', cause: expect.toBeOneOf([cause].flat()) as unknown })]);
      await seen(scene, { ready: 503, writable: 0, up });

      await fault.end();
      await seen(scene, { ready: 200, writable: 1, up: 1 });
      expect(await translate(scene)).toBe(200);
      await delay(SETTLE_MS);
      const [, ...more] = storeLines(scene);
      expect(more).toEqual([expect.objectContaining({ level: 'info', msg: 'the store takes writes again' })]);
      stalls.stop();
    },
  );

  test('that is a cluster with one full master: ready, for the teams of the others, and reported', async ({ onTestFinished }) => {
    const place = await Place.make(onTestFinished);
    const cluster = place.closes(await startRedisCluster({ replicasEach: 0 }), (one) => one.stop());
    const gateway = await place.gateway(cluster.url);
    const masters = await cluster.masters();
    const teams = new Map<number, TestTeam>();
    while (teams.size < 3) {
      const team = await gateway.team();
      teams.set(masters(teamSlot(team.teamId)).port, team);
    }
    const [[fullPort, hit], ...others] = [...teams] as [[number, TestTeam], ...[number, TestTeam][]];
    const at = (team: TestTeam): Scene => sceneOf(gateway, team);
    const full = cluster.nodes.find(({ port }) => port === fullPort)!;
    await full.client.config('SET', 'maxmemory', '1');
    await seen(at(hit), { ready: 200, writable: 0, up: 1 });
    for (const [, team] of others) expect(await translate(at(team))).toBe(200);
    // Found by the probe: no request has failed yet.
    expect(storeLines(at(hit))).toEqual([expect.objectContaining({ cause: 'oom', server: `127.0.0.1:${fullPort}` })]);
    expect(await translate(at(hit))).toBe(503);
    await full.client.config('SET', 'maxmemory', '0');
    await seen(at(hit), { ready: 200, writable: 1, up: 1 });
    expect(await translate(at(hit))).toBe(200);
  });
});

/** Waits until probes and metrics say so, all at once. */
async function seen(scene: Scene, expected: { readonly ready: number; readonly writable: number; readonly up: number }): Promise<void> {
  await vi.waitFor(async () => expect(await look(scene)).toEqual({ ...expected, health: expected.ready }), {
    timeout: 60_000,
    interval: 50,
  });
}

async function look({ url, opsUrl }: Scene) {
  const [ready, health, metrics] = await Promise.all([fetch(`${opsUrl}/readyz`), fetch(`${url}/health`), fetch(`${opsUrl}/metrics`)]);
  const text = await metrics.text();
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\d)$`, 'm').exec(text)?.[1]);
  return { ready: ready.status, health: health.status, writable: gauge('lingate_store_writable'), up: gauge('lingate_store_up') };
}

async function translate({ url, team }: Scene): Promise<number> {
  const response = await fetch(`${url}/v1/translate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${team.key}` },
    body: '{"text":["four"],"target_lang":"DE"}',
  });
  const body = (await response.json()) as { code?: string };
  if (response.status === 503) {
    expect([body.code, response.headers.get('retry-after')]).toEqual(['service_unavailable', '5']);
  }
  return response.status;
}

/** Log lines about the store, without the requests. */
function storeLines({ lines }: Scene): unknown[] {
  return lines()
    .filter((line) => /"msg":"(?:the store|a part of the store|the SQLite store) /.test(line))
    .filter((line) => !line.includes('keeps nothing across a restart'))
    .map((line) => JSON.parse(line) as unknown);
}
