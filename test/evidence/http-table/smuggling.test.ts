// Smuggling: no payload, sent directly or through HAProxy or nginx, has a hidden request handled or corrupts another caller's answer.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyWitnessed } from '../../support/plugins/witness.ts';
import { report } from '../scorecard/report.ts';
import { sized } from '../scorecard/size.ts';
import { request } from '../../support/raw-http.ts';
import type { Front, FrontKind } from '../../support/front-proxy.ts';
import { KEY } from './notation.ts';
import { PAYLOADS } from './payloads.ts';
import type { Payload } from './payloads.ts';
import { bytesOf, marksOf } from './play.ts';
import type { Marks } from './play.ts';
import { startWitnessedGateway } from './witnessed-gateway.ts';
import type { WitnessedGateway } from './witnessed-gateway.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { startFrontProxy } from '../../support/front-proxy.ts';

/** Begins the value of `X-Front`, which a front sets on every request that it passes on: its own method and mark follow. */
const STAMP = 'seen-by-the-front';

const CONFIG: Readonly<Record<FrontKind, (port: number, gatewayPort: number, folder: string) => string>> = {
  haproxy: (port, gatewayPort) => `
defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
  http-reuse always
frontend public
  bind 127.0.0.1:${port}
  http-request set-header X-Front "${STAMP} %[method] %[req.hdr(X-Case)]"
  default_backend gateway
backend gateway
  server one 127.0.0.1:${gatewayPort} pool-max-conn 1
`,
  nginx: (port, gatewayPort, folder) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  upstream gateway { server 127.0.0.1:${gatewayPort}; keepalive 1; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_next_upstream off;
      proxy_set_header Connection "";
      proxy_set_header X-Front "${STAMP} $request_method $http_x_case";
    }
  }
}
`,
};

/** Like `startFrontProxy`. */
function startFront(kind: FrontKind, gatewayPort: number): Promise<Front> {
  return startFrontProxy(kind, (port, folder) => CONFIG[kind](port, gatewayPort, folder));
}

/** An answer that has not begun by then would only come when a timer ends the connection. */
const PATIENCE_MS = 150;
/** Directly, every payload has its own connection; behind a front they follow each other on the shared one. */
const DIRECTLY_AT_ONCE = 16;

const WAYS = LISTENERS.flatMap((listener) =>
  (['directly', 'haproxy', 'nginx'] as const).map((way, index) => ({ listener, way, run: (listener === 'uws' ? 'pqr' : 'stv')[index]! })),
);

const gateways = new Map<string, WitnessedGateway>();
const fronts: Front[] = [];
/** Answers that were not the canary's own, by path. */
const wrong = new Map<string, string[]>();

beforeAll(async () => {
  for (const listener of LISTENERS) gateways.set(listener, await startWitnessedGateway(listener));
  await Promise.all(
    WAYS.map(async ({ listener, way, run }) => {
      const { port } = gateways.get(listener)!;
      if (way === 'directly') {
        wrong.set(run, await attackAll(port, run, DIRECTLY_AT_ONCE));
        return;
      }
      const front = await startFront(way, port);
      fronts.push(front);
      wrong.set(run, await attackAll(front.port, run, 1));
    }),
  );
}, 120_000);

afterAll(async () => {
  await Promise.all(fronts.map((front) => front.stop()));
  for (const gateway of gateways.values()) await gateway.stop();
});

async function attackAll(port: number, run: string, atOnce: number): Promise<string[]> {
  const faults: string[] = [];
  // One after the other behind a front, so that in the gate each front gets a share of its own.
  const share = atOnce > 1 ? 1 : sized(3, 1);
  const queue = [...PAYLOADS.entries()].filter(([index]) => (index + run.charCodeAt(0)) % share === 0);
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, payload] = next;
      await attack(port, payload, marksOf(run, index));
      // Two of them: a hidden request may make the shared connection answer one request behind.
      for (const canary of [await translationOf(port, `canary behind ${run}${index}`), await refusalOf(port)]) {
        if (canary !== 'its own') faults.push(`${payload.name}: a canary got ${canary}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return faults;
}

async function attack(port: number, payload: Payload, marks: Marks): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const answered = new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.on('error', () => undefined);
  for (const piece of bytesOf(payload.pieces, marks)) {
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    if (payload.pieces.length > 1) await delay(5);
  }
  await Promise.race([over, answered, delay(PATIENCE_MS)]);
  // A moment for a second answer, which a hidden request would cause.
  await Promise.race([over, delay(5)]);
  socket.destroy();
}

async function translationOf(port: number, text: string): Promise<string> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-case': 'canary' };
  const body = JSON.stringify({ text: [text], target_lang: 'DE' });
  const answer = await request({ port, method: 'POST', path: '/v1/translate', headers, body });
  return answer.body.includes(`[DE] ${text}"`) ? 'its own' : `${answer.status} ${answer.body.slice(0, 200)}`;
}

test('there are enough payloads, each with a name of its own', () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(PAYLOADS.map(({ name }) => name)).size).toBe(PAYLOADS.length);
});

test.each(WAYS)('$listener, $way: every canary gets its own answer', ({ run }) => {
  expect(wrong.get(run)).toEqual([]);
});

test.each(WAYS.filter(({ way }) => way === 'directly'))('$listener, directly: no hidden request is handled', ({ listener, run }) => {
  const handled = new Set(everyWitnessed().map(({ mark }) => mark));
  const found = PAYLOADS.filter(({ plain }, index) => plain !== true && handled.has(marksOf(run, index).tail));
  // The residue is seen only on the attacker's own connection, and no front lets it through.
  const residue = listener === 'uws' ? PAYLOADS.filter((payload) => payload.residual === true) : [];
  expect(found.map(({ name }) => name)).toEqual(residue.map(({ name }) => name));
});

// A front may read two requests: then it has passed on both, each stamped as itself.
test.each(WAYS.filter(({ way }) => way !== 'directly'))('$listener, $way: nothing is handled that the front has not seen', ({ run }) => {
  expect(unstamped(run)).toEqual([]);
});

/** No payload is answered like this. */
async function refusalOf(port: number): Promise<string> {
  const { status, headers, body } = await request({ port, path: '/v1/translate' });
  return status === 405 && headers['allow'] === 'POST' ? 'its own' : `${status} ${body.slice(0, 200)}`;
}

/** Requests that the gateway parsed differently from the front that passed them on. */
function unstamped(run: string): string[] {
  const ours = new RegExp(`^(?:${run}|${run.toUpperCase()})\\d{5}$`);
  const strangers = everyWitnessed().filter(({ mark, method, front }) => ours.test(mark) && front !== `${STAMP} ${method} ${mark}`);
  return strangers.map(({ mark, method, path, front }) => `${mark} ${method} ${path} stamped ${front}`);
}

test('behind a front, requests did get through', () => {
  const stamped = everyWitnessed().filter(({ front }) => front?.startsWith(STAMP) === true);
  expect(stamped.length).toBeGreaterThan((4 * PAYLOADS.length) / sized(3, 1));
  reportRow();
});

function reportRow(): void {
  const handled = new Set(everyWitnessed().map(({ mark }) => mark));
  const hidden = ({ way }: { readonly way: string }): boolean => way === 'directly';
  const found = WAYS.filter(hidden).map(({ listener, run }) => {
    const count = PAYLOADS.filter(({ plain }, index) => plain !== true && handled.has(marksOf(run, index).tail)).length;
    return { listener, count };
  });
  const behind = WAYS.filter((way) => !hidden(way)).reduce((sum, { run }) => sum + unstamped(run).length, 0);
  const canaries = [...wrong.values()].flat().length;
  report({
    row: 13,
    figure: `${PAYLOADS.length} payloads on each listener, directly, behind HAProxy and behind nginx`,
    measured: `${found.map(({ listener, count }) => `${count} handled directly by ${listener}`).join(', ')}; ${behind} behind a front; ${canaries} wrong canaries of ${2 * WAYS.length * PAYLOADS.length}`,
    met: found.every(({ count }) => count === 0) && behind === 0 && canaries === 0,
    counts: { badInputs: WAYS.length * PAYLOADS.length },
  });
}
