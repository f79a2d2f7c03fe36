// Sees to it that the programs which the tests start are on this machine: installs them where it may, otherwise says what to install.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';

interface Need {
  readonly package: string;
  /** A file that shows that the package is there. */
  readonly file: string;
  readonly why: string;
}

const NEEDS: readonly Need[] = [
  { package: 'redis-server', file: '/usr/bin/redis-server', why: 'the Redis store is tested against a real Redis' },
  { package: 'apertium-apy', file: '/usr/bin/apertium-apy', why: 'the engine adapter is tested against a real engine' },
  { package: 'apertium-eng-spa', file: '/usr/share/apertium/modes/eng-spa.mode', why: 'the real engine needs a language pair' },
  { package: 'haproxy', file: '/usr/sbin/haproxy', why: 'request smuggling is tried through a front proxy' },
  { package: 'nginx', file: '/usr/sbin/nginx', why: 'and through another one, which reads HTTP differently' },
  { package: 'openssl', file: '/usr/bin/openssl', why: 'tests of TLS make their own certificate' },
];

const missing = NEEDS.filter((need) => !existsSync(need.file));
if (missing.length > 0) install(missing);

function install(needs: readonly Need[]): void {
  const packages = needs.map((need) => need.package);
  const apt = aptCommand();
  if (apt === undefined) {
    for (const need of needs) console.error(`missing: ${need.package} (${need.why})`);
    fail(`Install them first, on Debian with: apt-get install --no-install-recommends ${packages.join(' ')}`);
  }
  console.log(`Installing what the tests need: ${packages.join(' ')}`);
  run([...apt, 'update']);
  // Services are not to start by themselves: tests start their own, on free ports.
  run([...apt, '-o', 'Dpkg::Options::=--force-confold', 'install', '-y', '--no-install-recommends', ...packages]);
  const still = needs.filter((need) => !existsSync(need.file));
  if (still.length > 0) fail(`Installed, but not found: ${still.map((need) => need.file).join(', ')}. Is this Debian?`);
}

/** `undefined` when this user may not install packages or there is no apt-get. */
function aptCommand(): string[] | undefined {
  if (!existsSync('/usr/bin/apt-get')) return undefined;
  if (process.getuid?.() === 0) return ['apt-get'];
  const sudo = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
  return sudo.status === 0 ? ['sudo', '-n', 'apt-get'] : undefined;
}

function run(command: readonly string[]): void {
  const [program = '', ...args] = command;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const result = spawnSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', env });
  if (result.status !== 0) fail(`${command.join(' ')} failed:\n${result.stderr}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
