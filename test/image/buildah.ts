// Debian's buildah with a storage of its own: chroot isolation, so it needs no daemon, no runtime and no kernel modules.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { mustRun } from '../bare/command.ts';

const LIMIT_MS = 300_000;
/** Below the folder of settings. */
export const CACHE = 'npm-cache';

interface Layer {
  readonly size: number;
  readonly digest: string;
}

/** What an image says of how it is to be run. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface ImageBuild {
  readonly dockerfile: string;
  readonly context: string;
  readonly seconds: number;
  readonly settings: string;
  readonly path: string;
  /** npm's cache of this machine, whose contents are checked by their digests. */
  readonly npmCache: string;
  readonly limitMs: number;
}

export class Buildah {
  readonly #storage: readonly string[];
  readonly #env: Readonly<Record<string, string>>;

  /** Everything lies in the folder and goes with it. */
  constructor(folder: string) {
    this.#storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
    this.#env = { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder, BUILDAH_ISOLATION: 'chroot' };
  }

  /** What it prints, without the line break at its end. Throws what it said when it fails. */
  run(command: string, ...args: readonly string[]): Promise<string> {
    return this.#within(LIMIT_MS, command, ...args);
  }

  async #within(limitMs: number, command: string, ...args: readonly string[]): Promise<string> {
    const output = await mustRun('buildah', [...this.#storage, command, ...args], { limitMs, env: this.#env });
    return output.trim();
  }

  /** An image of one layer and a PATH: what the tar files hold, one over the other. */
  async makeBase(name: string, tarballs: readonly string[]): Promise<void> {
    const container = await this.run('from', 'scratch');
    for (const tarball of tarballs) await this.run('add', '--quiet', container, tarball, '/');
    await this.run('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', '--cmd', 'node', container);
    await this.run('commit', '--quiet', '--format', 'docker', container, name);
    await this.run('rm', container);
  }

  /**
   * Builds a Dockerfile in the context; `settings` is seen as `path` by its steps, npm's cache below it, and neither is in the image. All times in it are that of
   * `seconds`. Nothing of an earlier build is used.
   */
  async build(name: string, { dockerfile, context, seconds, settings, path, npmCache, limitMs }: ImageBuild): Promise<void> {
    const seen = ['--volume', `${settings}:${path}:ro`, '--volume', `${npmCache}:${path}/${CACHE}:rw`];
    const network = ['--network', 'host', '--pull-never', '--no-cache', '--format', 'docker', ...seen];
    const times = ['--timestamp', String(seconds), '--build-arg', `SOURCE_DATE_EPOCH=${seconds}`];
    await this.#within(limitMs, 'build', ...network, ...times, '--file', dockerfile, '--tag', name, context);
  }

  async configOf(image: string): Promise<ImageConfig> {
    const { Docker } = JSON.parse(await this.run('inspect', '--type', 'image', image)) as { Docker: { config: ImageConfig } };
    return Docker.config;
  }

  /** The image's layers, lowest first: bytes, and the digest of their content. */
  async layersOf(image: string): Promise<readonly Layer[]> {
    const { Manifest } = JSON.parse(await this.run('inspect', '--type', 'image', image)) as { Manifest: string };
    return (JSON.parse(Manifest) as { layers: readonly Layer[] }).layers;
  }

  /**
   * The digest of all that an image is, as OCI has it, in a new folder. Docker's form, which buildah keeps for the health check, names the
   * container and the host of the build besides.
   */
  async digestOf(image: string, folder: string): Promise<string> {
    await this.run('push', '--quiet', '--format', 'oci', image, `oci:${folder}:${image}`);
    const { manifests } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { manifests: readonly [{ digest: string }] };
    return manifests[0].digest;
  }

  /** A fresh container of the image, as a folder. */
  async mount(image: string): Promise<string> {
    return this.run('mount', await this.run('from', '--pull-never', image));
  }
}
