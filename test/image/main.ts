// npm run task -- test:image: builds the Dockerfile without Docker, and runs what came of it as an engine would; with --twice also a second time.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { startDemoEngine } from '../../src/demo/demo-engine.ts';
import type { Running } from '../bare/command.ts';
import { machineSettings } from '../bare/machine-settings.ts';
import { cacheFolder, ownFolder, removeFolder, whyNoRoot } from '../bare/root-file-system.ts';
import { pasteCurlLine } from '../bare/stranger.ts';
import { say, StepCounts } from '../bare/step-counts.ts';
import { makeBaseImage, npmSettingsFolder, SETTINGS_PATH, withoutDigests } from './base-image.ts';
import { billFaults } from './bill.ts';
import { Buildah } from './buildah.ts';
import type { ImageBuild } from './buildah.ts';
import { execInside, runContainer, startContainer, stopContainer } from './container.ts';
import type { Container } from './container.ts';
import { BINARY, changeable, lockFileOf, nativeBinaries, packageFaults, settingsOfTheBuilder, surplus } from './contents.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const IMAGE = 'lingate';
const AGAIN = 'lingate-again';
/** Any time: the only one in the image. */
const SECONDS = 1_790_000_000;
/** Most of a build is npm's, so a second one is for a run of its own. */
const TWICE = process.argv.includes('--twice');
const LIMIT_MS = (TWICE ? 40 : 20) * 60_000;
const START_MS = 20_000;
const LOOPBACK = ['--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];
const READY = /lingate is ready on (http:\/\/[^ ",]+), ops on (http:\/\/[^ ",]+)/;
const MEGABYTE = 1_000_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const why = await whyNoRoot();
  if (why !== undefined) {
    process.stderr.write(`test:image: ${why}\n`);
    return 1;
  }
  const folder = ownFolder();
  // Whatever is under way is killed at a signal by what has started it; then the step fails, and what was made is removed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => say(`test:image: stopped by ${signal}`));
  const limit = setTimeout(() => process.kill(process.pid, 'SIGTERM'), LIMIT_MS);
  const steps = new StepCounts();
  try {
    await tryImage(folder, steps);
  } finally {
    clearTimeout(limit);
    removeFolder(folder);
  }
  return steps.close();
}

async function tryImage(folder: string, steps: StepCounts): Promise<void> {
  const buildah = new Buildah(folder);
  const settings = await machineSettings();
  const dockerfile = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8');
  const made = await steps.step('the base image is made', () => makeBaseImage(buildah, folder, withoutDigests(dockerfile), settings));
  const file = join(folder, 'Dockerfile');
  writeFileSync(file, withoutDigests(dockerfile));
  const how = {
    dockerfile: file,
    context: PROJECT,
    seconds: SECONDS,
    settings: npmSettingsFolder(folder, settings),
    path: SETTINGS_PATH,
    npmCache: cacheFolder('npm'),
    limitMs: LIMIT_MS / 2,
  };
  const built = made && (await steps.step('the Dockerfile is built', () => buildah.build(IMAGE, how)));
  if (!built) return;
  const container: Container = { root: await buildah.mount(IMAGE), config: await buildah.configOf(IMAGE) };
  await steps.step('it holds what runs, and nothing else', async () => expectContents(container));
  await steps.step('its bill of materials lists what is in it', async () => expectBill(container));
  if (TWICE) await steps.step('a second build has the same bytes', () => expectSame(buildah, how, folder));
  await steps.step('its user is not root, and it tells its version and build', () => expectUser(container));
  await steps.step('demo translates, and ends by SIGTERM', () => tryDemo(container));
  await steps.step('serve translates, is healthy, ends by SIGTERM, and the books are kept', () => tryServe(container));
  const layers = await buildah.layersOf(IMAGE);
  const ours = layers.slice(1).reduce((sum, { size }) => sum + size, 0);
  say(`size: ${megabytes(ours)} on top of the base image, ${megabytes(layers[0]!.size + ours)} with the one made here`);
}

async function expectSame(buildah: Buildah, how: ImageBuild, folder: string): Promise<void> {
  await buildah.build(AGAIN, how);
  const [one, other] = await Promise.all([buildah.layersOf(IMAGE), buildah.layersOf(AGAIN)]);
  const different = one.flatMap(({ digest }, index) => (digest === other[index]?.digest ? [] : [index]));
  if (different.length > 0 || one.length !== other.length) throw new Error(`layers that differ: ${different.join(', ')}`);
  const digests = [await buildah.digestOf(IMAGE, join(folder, IMAGE)), await buildah.digestOf(AGAIN, join(folder, AGAIN))];
  if (digests[0] !== digests[1]) throw new Error(`the same layers, but ${digests.join(' and ')}`);
  const checks = await Promise.all([IMAGE, AGAIN].map(async (name) => JSON.stringify((await buildah.configOf(name)).Healthcheck)));
  if (checks[0] !== checks[1]) throw new Error(`the same digest, but health checks ${checks.join(' and ')}`);
  say(`  ${digests[0]}`);
}

async function expectBill(container: Container): Promise<void> {
  const installed = await execInside(container, ['dpkg-query', '--show', '--showformat', '${Package}@${Version}\\n']);
  const node = (await execInside(container, ['node', '--version'])).trim().replace('v', 'node@');
  const faults = billFaults(container.root, lockFileOf(PROJECT), [node, ...installed.trim().split('\n')]);
  if (faults.length > 0) throw new Error(faults.slice(0, 20).join('\n'));
}

function expectContents({ root }: Container): void {
  const binaries = nativeBinaries(root);
  const faults = [
    ...packageFaults(root, lockFileOf(PROJECT)),
    ...(binaries.length === 1 && binaries[0]!.endsWith(`/${BINARY}`) ? [] : [`native binaries: ${binaries.join(', ') || 'none'}`]),
    ...changeable(root).map((path) => `${path} may be changed by others than root`),
    ...surplus(root).map((path) => `${path} is only for development`),
    ...settingsOfTheBuilder(root).map((path) => `${path} is of the machine that built it`),
  ];
  if (faults.length > 0) throw new Error(faults.slice(0, 20).join('\n'));
  say(`  ${binaries[0]}`);
}

async function expectUser(container: Container): Promise<void> {
  const [user = ''] = container.config.User.split(':');
  const uid = (await execInside(container, ['id', '-u'])).trim();
  if (uid !== user || uid === '0') throw new Error(`runs as ${uid}`);
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string };
  const reply = (await runContainer(container, ['--version'])).trim();
  if (!reply.includes(version) || !reply.includes('Node 24.')) throw new Error(`--version says: ${reply}`);
  say(`  user ${uid}; ${reply.replaceAll('\n', ', ')}`);
}

async function tryDemo(container: Container): Promise<void> {
  const demo = startContainer(container, ['demo', ...LOOPBACK]);
  await withProcess(demo, async () => {
    await pasteCurlLine(demo, START_MS);
    await stopContainer(demo);
  });
}

async function tryServe(container: Container): Promise<void> {
  const engine = await startDemoEngine();
  try {
    await serveAndTranslate(container, engine.url);
  } finally {
    await engine.close();
  }
}

async function serveAndTranslate(container: Container, engineUrl: string): Promise<void> {
  const printed = async <T>(...args: readonly string[]): Promise<T> => JSON.parse(await runContainer(container, [...args, '--json'])) as T;
  const { team_id: team } = await printed<{ team_id: string }>('team', 'create', '--name', 'acme', '--plan', 'free');
  const { key } = await printed<{ key: string }>('key', 'create', '--team', team, '--mode', 'live');
  const serve = startContainer(container, [...container.config.Cmd, ...LOOPBACK, '--engine-url', engineUrl]);
  await withProcess(serve, async () => {
    await serve.program.until(READY, START_MS);
    const [, url, ops] = READY.exec(serve.output())!;
    const answer = await fetch(`${url}/v1/translate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: ['Hello, world!'], target_lang: 'DE' }),
    });
    const body = await answer.text();
    if (answer.status !== 200 || !body.includes('Hallo, Welt!')) throw new Error(`answered ${answer.status}: ${body}`);
    await expectHealthy(container, ops!);
    say(`  stopped in ${(await stopContainer(serve)).toFixed(0)} ms`);
  });
  const { character_count: counted } = await printed<{ character_count: number }>('usage', team);
  if (counted !== 13) throw new Error(`the books say ${counted} characters`);
}

/** The image's own health check, but for the port. */
async function expectHealthy(container: Container, ops: string): Promise<void> {
  const [kind, ...check] = container.config.Healthcheck.Test;
  if (kind !== 'CMD') throw new Error(`a health check of kind ${kind}`);
  await execInside(
    container,
    check.map((part) => part.replace(':9090', `:${new URL(ops).port}`)),
  );
}

async function withProcess(running: Running, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    running.kill('failed');
    await running.ended;
    throw new Error(`${(error as Error).message}\n${running.output().slice(-2000)}`, { cause: error });
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`;
}
