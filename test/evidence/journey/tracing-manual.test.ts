// The manual's page on traces: its commands, as they stand, lead from a configuration without `otel` to a trace at a collector.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { MAIN } from '../../support/lingate-command.ts';
import { codeBlocks, manualPage } from '../../support/manual.ts';
import { startCollector } from '../../support/otlp-collector.ts';
import { openSite } from '../../support/site.ts';
import { outputOf } from '../../support/start-program.ts';

test('from nothing to a trace', async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const site = await openSite();
  onTestFinished(() => site.close());
  const [check, serve, call] = codeBlocks(manualPage('tracing'), 'sh') as [string, string, string];
  const [section] = codeBlocks(manualPage('tracing'), 'yaml') as [string];
  const file = join(site.folder, 'lingate.yaml');
  const own = { engine: { urls: [site.engine.url] }, store: site.storeUrl, listen: '127.0.0.1:0', ops: '127.0.0.1:0' };
  const members = Object.entries(own).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  writeFileSync(file, `${members.join('')}${section.replace('http://127.0.0.1:4318', collector.url)}`);
  const run = (block: string): Promise<string> => {
    const text = block.replaceAll(/^lingate /gm, '"$NODE" "$MAIN" ');
    const env = { ...bareEnvironment(), NODE: process.execPath, MAIN, LINGATE_KEY: site.team.key };
    return outputOf('sh', ['-ec', text], { cwd: site.folder, env, uses: ['curl', 'jq'] });
  };
  expect(JSON.parse(await run(check))).toEqual({
    otel: 'on',
    otel_traces: `${collector.url}/v1/traces`,
    otel_sample: 1,
    otel_follow_callers: false,
  });
  const args = [...serve.trim().split(' ').slice(1), '--workers', '2'];
  const gateway = await startGatewayProcess({ args, cwd: site.folder });
  const here = (block: string): string =>
    block.replaceAll('http://127.0.0.1:8080', gateway.url).replaceAll('http://127.0.0.1:9090', gateway.opsUrl);
  expect(JSON.parse(await run(here(call)))).toMatchObject({ translations: [{}] });
  const traceId = /traceparent: 00-([0-9a-f]{32})/.exec(call)![1]!;
  await expect
    .poll(() => collector.spans.map((span) => span.traceId), { timeout: 20_000 })
    .toEqual(Array.from({ length: 4 }, () => traceId));
  for (const { resource } of collector.spans) {
    expect(resource).toMatchObject({ 'service.name': 'lingate', 'lingate.process': expect.stringMatching(/^worker-[12]$/) as unknown });
  }
  expect(gateway.output()).toContain(`"trace_id":"${traceId}"`);
  expect(await gateway.end('SIGTERM')).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('otel:');
});
