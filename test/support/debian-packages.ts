// Programs from Debian packages: checks whether they are there, installs what is missing if it may, otherwise says what to install.
import { existsSync } from 'node:fs';
import process from 'node:process';
import type { Need } from './programs.ts';
import { isThere, runProgram } from './start-program.ts';
import type { Startable } from './start-program.ts';

// Services must not start automatically: tests start their own, on free ports.
const INSTALL = ['-o', 'Dpkg::Options::=--force-confold', 'install', '-y', '--no-install-recommends'];
const APT_MS_MAX = 600_000;

/** Installs what is missing if it may; otherwise says what to install and exits. */
export async function ensureInstalled(needs: readonly Need[]): Promise<void> {
  const missing = needs.filter((need) => !existsSync(need.file));
  if (missing.length > 0) await install(missing);
}

async function install(needs: readonly Need[]): Promise<void> {
  const packages = [...new Set(needs.map((need) => need.package))];
  const apt = await aptCommand();
  if (apt === undefined) fail(needs, `Install them first, on Debian with: apt-get install --no-install-recommends ${packages.join(' ')}`);
  process.stdout.write(`Installing what is missing: ${packages.join(' ')}\n`);
  const reason = (await run(apt, ['update'])) ?? (await run(apt, [...INSTALL, ...packages]));
  const still = needs.filter((need) => !existsSync(need.file));
  if (still.length > 0) fail(still, reason ?? 'Installed, but not found where they should be. Is this Debian?');
}

type Apt = readonly [program: Startable, ...args: string[]];

/** `undefined` if this user may not install packages or there is no apt-get. */
async function aptCommand(): Promise<Apt | undefined> {
  if (!isThere('apt-get')) return undefined;
  if (process.getuid?.() === 0) return ['apt-get'];
  if (!isThere('sudo')) return undefined;
  const { status } = await runProgram('sudo', ['-n', 'true'], { uses: ['true'] });
  return status === 0 ? ['sudo', '-n', 'apt-get'] : undefined;
}

/** Why it failed, or `undefined`. */
async function run([program, ...first]: Apt, args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const { status, stderr } = await runProgram(program, [...first, ...args], { env, msMax: APT_MS_MAX, uses: ['apt-get'] });
  return status === 0 ? undefined : `${[program, ...first, ...args].join(' ')} failed:\n${stderr}`;
}

function fail(needs: readonly Need[], message: string): never {
  for (const need of needs) process.stderr.write(`missing: ${need.file} of the Debian package ${need.package} (${need.why})\n`);
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
