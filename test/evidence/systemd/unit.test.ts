// The systemd unit: systemd's own checks, how much it confines, and that its times and variables match lingate's.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../support/door/gateways.ts';
import { runProgram } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';

const UNIT = readFileSync(new URL('../../../config/lingate.service', import.meta.url), 'utf8');
const SERVED = '/usr/local/bin/lingate';
/** Of 10 for an unrestricted service; systemd calls anything below 2 well confined. */
const EXPOSURE_MAX = 20;

const { folder } = startedUntil(afterAll);
const program = join(folder, 'lingate');
writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
const unit = join(folder, 'lingate.service');
writeFileSync(unit, UNIT.replace(SERVED, program));

/** Every value of the directive with this name. */
const valuesOf = (name: string): string[] => [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1]!);

test('systemd finds nothing wrong with it, and would with a mistyped directive', async () => {
  expect(UNIT).toContain(`ExecStart=${SERVED} serve`);
  const { status, stderr } = await runProgram('systemd-analyze', ['verify', '--man=no', unit]);
  expect([status, stderr.split('\n').filter((line) => line.includes('lingate.service'))]).toEqual([0, []]);
  const mistyped = join(folder, 'mistyped.service');
  writeFileSync(mistyped, readFileSync(unit, 'utf8').replace('KillMode', 'KilMode'));
  expect((await runProgram('systemd-analyze', ['verify', '--man=no', mistyped])).stderr).toMatch(/Unknown key (?:name )?'KilMode'/);
});

test('it is confined', async () => {
  const { status, stdout } = await runProgram('systemd-analyze', ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, unit]);
  expect([status, /Overall exposure level for lingate.service: ([\d.]+)/.exec(stdout)?.[1]]).toEqual([
    0,
    expect.stringMatching(/^[01]\.\d$/),
  ]);
});

test('it gives lingate enough time to drain and settle, and sets variables that it reads', () => {
  const { drain_delay_seconds: delay, drain_seconds: drain } = loadConfig({ env: {} }).limits;
  expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(delay + drain + 5);
  expect(valuesOf('Environment')).toEqual(['NODE_ENV=production', 'LINGATE_CONFIG=/etc/lingate/lingate.yaml']);
});
