// The ops listener requires no key: it is on loopback unless configured otherwise, which is logged.
import { describe, expect, test } from 'vitest';
import { loadConfig, startApp } from '../../support/door/gateways.ts';
import { isLoopback } from '../../support/door/terms.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Log lines at the start of a gateway with this ops address, and whether the public side answers an ops path. */
async function startedWith(ops: string): Promise<{ warnings: string[]; opsPathsOnPublicSide: number[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-ops-'));
  const engine = await startScriptedEngine();
  const file = join(folder, 'lingate.yaml');
  await writeFile(file, JSON.stringify({ listen: '127.0.0.1:0', ops, store: `sqlite:${folder}/l.db`, engine: { urls: [engine.url] } }));
  const lines: string[] = [];
  const app = await startApp(loadConfig({ file, env: {}, flags: {} }), { logDestination: { write: (line) => void lines.push(line) } });
  const paths = ['/metrics', '/readyz', '/livez', '/docs', '/openapi.json'];
  const answers = await Promise.all(paths.map((path) => fetch(`${app.listenUrl}${path}`)));
  await app.life.stop();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
  const warnings = lines.filter((line) => line.includes('"level":"warn"') && line.includes('ops listener'));
  return { warnings, opsPathsOnPublicSide: answers.map(({ status }) => status) };
}

describe('the ops listener', () => {
  test('is on loopback by default', () => {
    expect(isLoopback(loadConfig({ env: {} }).ops.host)).toBe(true);
  });

  test('on loopback starts without a warning, and the public side has none of its pages', async () => {
    const { warnings, opsPathsOnPublicSide } = await startedWith('127.0.0.1:0');
    expect(warnings).toEqual([]);
    expect(opsPathsOnPublicSide).toEqual([404, 404, 404, 404, 404]);
  });

  test('elsewhere logs a warning that names its address', async () => {
    const { warnings } = await startedWith('0.0.0.0:0');
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0]!)).toMatchObject({ host: '0.0.0.0' });
  });

  test.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['127.0.0.1.example', false],
    ['localhost.example', false],
  ])('%s is on loopback: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
