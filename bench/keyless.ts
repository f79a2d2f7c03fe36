// npm run bench:keyless: what a request without a key costs the gateway on each route that needs none, beside a 401 in the same rounds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startGatewayProcess } from '../test/support/gateway-process.ts';
import type { GatewayProcess } from '../test/support/gateway-process.ts';
import { request } from '../test/support/raw-http.ts';
import { ClosedLoad } from './load/closed-load.ts';
import { LoadConnection } from './load/load-connection.ts';
import { describeMachine, machineLine } from './machine/description.ts';
import { usageOf } from './machine/process-tree.ts';
import { median, spread } from './run/median.ts';
import { textTable } from './run/text-table.ts';

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, ms: { type: 'string', default: '300' }, only: { type: 'string', default: '' } },
});
const ROUNDS = Number(flags.rounds);
const ROUND_MS = Number(flags.ms);
const CONNECTIONS = 16;
/** V8 compiles what it serves often; before that, every route is dearer. */
const WARM_UP_ROUNDS = 3;
const KEY_NEEDED = '/v1/languages';
const AZURE = 'api-version=3.0';

const PATHS: readonly string[] = [
  KEY_NEEDED,
  '/health',
  `/translator/text/v3.0/languages?${AZURE}`,
  `/translator/text/v3.0/languages?${AZURE}&scope=dictionary,translation`,
  '/languages',
  '/frontend/settings',
  '/spec',
  '/openapi.json',
  '/openapi/libretranslate.json',
  '/docs',
  '/docs/errors',
];

interface Case {
  readonly name: string;
  readonly path: string;
  readonly tag: string | undefined;
  readonly status: number;
  readonly bytes: number;
  readonly cpuUs: number[];
}

const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-keyless-'));
const config = join(folder, 'lingate.yaml');
writeFileSync(
  config,
  JSON.stringify({
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    store: `sqlite:${folder}/lingate.db`,
    engine: { urls: ['http://127.0.0.1:1'] },
    docs: { public: true },
    plugins: [
      { module: 'lingate/plugins/azure-v3', options: { root: false } },
      ...['google-v2', 'deepl-v2', 'libretranslate'].map((name) => ({ module: `lingate/plugins/${name}` })),
    ],
  }),
);
const gateway = await startGatewayProcess({ args: ['serve', '--config', config] });
try {
  const cases: Case[] = [];
  for (const path of PATHS.filter((one) => one === KEY_NEEDED || one.includes(flags.only))) cases.push(...(await casesOf(path)));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    // Another order each time, so that no case always follows the same one.
    for (const one of cases.toSorted(() => Math.random() - 0.5)) {
      const cpuUs = await cpuOf(gateway, one);
      if (round >= 0) one.cpuUs.push(cpuUs);
    }
  }
  const refusal = cases.find(({ path }) => path === KEY_NEEDED)!;
  const rows = cases.map(({ name, status, bytes, cpuUs }) => {
    const ratio = spread(cpuUs.map((us, round) => us / refusal.cpuUs[round]!));
    return [
      name,
      String(status),
      String(bytes),
      median(cpuUs).toFixed(1),
      ratio.median.toFixed(2),
      `${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)}`,
    ];
  });
  console.log(`${machineLine(await describeMachine())}, ${ROUNDS} alternating rounds of ${ROUND_MS} ms\n`);
  console.log(textTable(['', 'status', 'bytes', 'CPU µs', '/ 401', 'middle half'], rows));
} finally {
  await gateway.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

/** A route's answer, and the one to a caller who has it already. */
async function casesOf(path: string): Promise<Case[]> {
  // The first request for a page may find the gateway busy with rendering the one before.
  let answer = await request({ port: gateway.port, path });
  while (answer.status === 503) answer = await request({ port: gateway.port, path });
  const { status, body } = answer;
  if (status !== (path === KEY_NEEDED ? 401 : 200)) throw new Error(`${path} answered ${status}`);
  const tag = answer.header('etag');
  const whole: Case = { name: path, path, tag: undefined, status, bytes: Buffer.byteLength(body), cpuUs: [] };
  return tag === undefined ? [whole] : [whole, { ...whole, name: `${path}, known`, tag, status: 304, bytes: 0, cpuUs: [] }];
}

/** CPU of the gateway per request. */
async function cpuOf({ port, process }: GatewayProcess, { path, tag, status }: Case): Promise<number> {
  const known = tag === undefined ? '' : `If-None-Match: ${tag}\r\n`;
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${known}\r\n`);
  const connections: LoadConnection[] = [];
  const load = new ClosedLoad(connections, [bytes]);
  for (let i = 0; i < CONNECTIONS; i++) {
    connections.push(await LoadConnection.open(port, { status, body: undefined }, load.onAnswer));
  }
  const before = usageOf(process.pid!);
  const { answers, faults, fault } = await load.run(ROUND_MS);
  const after = usageOf(process.pid!);
  for (const connection of connections) connection.leave();
  if (faults > 0) throw new Error(`${path}: ${faults} of ${answers + faults} answers were wrong: ${fault}`);
  return (after.cpuUs - before.cpuUs) / answers;
}
