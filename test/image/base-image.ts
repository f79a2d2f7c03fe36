// The image that the Dockerfile begins with, made here: Debian's base system, Node 24 as npm has it, npm. Nothing of this machine's settings.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../bare/command.ts';
import type { MachineSettings } from '../bare/machine-settings.ts';
import { nodeFile, putNode } from '../bare/node.ts';
import { rootTarball } from '../bare/root-file-system.ts';
import { CACHE } from './buildah.ts';
import type { Buildah } from './buildah.ts';

/** The one name that an image is made for. */
const BASE = 'node:24.21.0-trixie-slim';
/** The content of the real one, which the image made here does not have. */
const PINNED = /(?<=^FROM \S+)@sha256:[0-9a-f]{64}/gm;
const TAR_MS = 120_000;

/** An empty folder of the base image, which a build may see something else in without leaving a trace. */
export const SETTINGS_PATH = '/usr/local/etc';

/** The Dockerfile with the base image by its name alone. Throws if a stage begins with one that is not pinned by its content. */
export function withoutDigests(dockerfile: string): string {
  const unpinned = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name!).find((name) => !/@sha256:[0-9a-f]{64}$/.test(name));
  if (unpinned !== undefined) throw new Error(`the Dockerfile begins with ${unpinned}, which is not pinned by its content`);
  return dockerfile.replaceAll(PINNED, '');
}

/** Makes it under the name that the Dockerfile gives it. */
export async function makeBaseImage(buildah: Buildah, folder: string, dockerfile: string, settings: MachineSettings): Promise<void> {
  const other = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name!).find((name) => name !== BASE);
  if (other !== undefined) throw new Error(`the Dockerfile begins with ${other}, and only ${BASE} can be made here`);
  const node = join(folder, 'node');
  mkdirSync(node);
  putNode(node, await nodeFile('24'));
  const tarball = join(folder, 'node.tar');
  await mustRun('tar', ['-C', node, '--owner=0', '--group=0', '-cf', tarball, 'usr'], { limitMs: TAR_MS });
  await buildah.makeBase(BASE, [await rootTarball('13', settings), tarball]);
}

/** A folder with npm's settings of this machine in one file, for a build only: what npm there takes for everybody's settings. */
export function npmSettingsFolder(folder: string, { env, npmrc, certificates }: MachineSettings): string {
  const settings = join(folder, 'npm-settings');
  mkdirSync(join(settings, CACHE), { recursive: true });
  const files = [npmrc.global, npmrc.user].flatMap((file) => (file === undefined ? [] : [readFileSync(file, 'utf8')]));
  const variables = Object.entries(env).flatMap(([name, value]) => {
    const key = /^npm_config_(.+)/.exec(name)?.[1];
    return key === undefined || key === 'cafile' ? [] : [`${key.replaceAll('_', '-')}=${value}`];
  });
  writeFileSync(join(settings, 'ca.pem'), certificates.pem);
  // The last one counts.
  const trusted = certificates.paths.length === 0 ? [] : [`cafile=${SETTINGS_PATH}/ca.pem`];
  const cached = [`cache=${SETTINGS_PATH}/${CACHE}`, 'prefer-offline=true'];
  writeFileSync(join(settings, 'npmrc'), `${[...files, ...variables, ...trusted, ...cached].join('\n')}\n`);
  return settings;
}
