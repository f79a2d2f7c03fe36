// The manual's files for nginx and HAProxy, in front of two gateways that are restarted in turn: no request is lost.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { freePortOf } from '../../support/door/gateways.ts';
import { QUOTA_PLAN, makeTeam } from '../../support/gateway.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { startFrontProxy } from '../../support/front-proxy.ts';
import type { FrontKind } from '../../support/front-proxy.ts';
import { openSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { agentSender, Callers } from './callers.ts';

vi.setConfig({ testTimeout: 120_000 });

const FILES: Readonly<Record<FrontKind, string>> = { nginx: 'nginx.conf', haproxy: 'haproxy.cfg' };
const KINDS = ['nginx', 'haproxy'] as const;
/** Of each front. */
const CALLERS = 6;

let site: Site;

beforeEach(async () => {
  site = await openSite();
  const limits = { drain_delay_seconds: 3, shed_loop_delay_ms: 0 };
  const patience = { store_options: { command_timeout_ms: 10_000 } };
  await site.configure({ engine: { urls: [site.engine.url] }, listen_trusted_proxies: ['127.0.0.1'], limits, ...patience });
});

afterEach(() => site.close());

/** The file with a test's ports and folder in place of its own; nothing else is changed. */
function ofTest(kind: FrontKind, own: { readonly port: number; readonly gateways: readonly number[]; readonly folder: string }): string {
  const text = readFileSync(new URL(`../../../config/${FILES[kind]}`, import.meta.url), 'utf8');
  const replaced = [
    ['127.0.0.1:8080', `127.0.0.1:${own.gateways[0]}`],
    ['127.0.0.1:8081', `127.0.0.1:${own.gateways[1]}`],
    ...(kind === 'nginx'
      ? [
          ['listen 80;', `listen 127.0.0.1:${own.port};`],
          ['/run/', `${own.folder}/`],
        ]
      : [['bind :80', `bind 127.0.0.1:${own.port}`]]),
  ].reduce((all, [from, to]) => {
    expect(all, `${from} stands once in config/${FILES[kind]}`).toContain(from);
    return all.replace(from!, to!);
  }, text);
  return kind === 'nginx' ? `daemon off;\n${replaced}` : replaced;
}

test('nginx and HAProxy in front of two gateways: both are restarted under load, no request is lost', async () => {
  const team = await makeTeam(site.store, { ...QUOTA_PLAN, requests_per_second: 50_000, characters: 100_000_000 });
  const ports = await Promise.all([freePortOf('127.0.0.1', 0), freePortOf('127.0.0.1', 0)]);
  const start = (port: number): Promise<GatewayProcess> => site.serve('--listen', `127.0.0.1:${port}`);
  const gateways = await Promise.all(ports.map(start));
  const fronts = await Promise.all(
    KINDS.map((kind) => startFrontProxy(kind, (port, folder) => ofTest(kind, { port, gateways: ports, folder }))),
  );
  const callers = fronts.map(
    ({ port }) =>
      new Callers({
        count: CALLERS,
        ports: [port],
        senderOf: () => agentSender(team.key, { 'X-Forwarded-For': '9.9.9.9' }),
        // Some continue at once, others leave their connections and the proxy's idle for a while.
        pauseMs: (index, asked) => (index % 2 === 0 ? 5 : 100 + ((31 * index + 170 * asked) % 400)),
      }),
  );
  for (const [one, port] of ports.entries()) {
    const before = callers.map(({ delivered }) => delivered);
    await expect.poll(() => callers.every(({ delivered }, index) => delivered > before[index]! + 50)).toBe(true);
    expect(await gateways[one]!.end('SIGTERM')).toBe(0);
    // Each had requests, and trusted the proxies about the caller's address.
    expect(clientsIn(gateways[one]!.output())).toEqual(['127.0.0.1']);
    gateways[one] = await start(port);
    // HAProxy's check must have seen it again before the other one stops.
    await delay(2500);
  }
  expect(await Promise.all(callers.map((each) => each.stop()))).toEqual([[], []]);
  await Promise.all(fronts.map((front) => front.stop()));
  for (const gateway of gateways) expect(await gateway.end('SIGTERM')).toBe(0);
});

/** The callers of translations in the access log. */
function clientsIn(output: string): string[] {
  const clients = output.matchAll(/"route":"POST \/v1\/translate".*?"client":"([^"]*)"/g);
  return [...new Set([...clients].map(([, client]) => client!))];
}
