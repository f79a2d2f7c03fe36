// Loads a build of uWebSockets.js: newest first, and only binaries whose SHA-256 is pinned, or an upstream release. Its only importer.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { HEAD_BYTES_MAX, ListenError } from './listener.ts';
import { NEWER, OLDER } from './uws-pins.ts';
import type { PinnedBuild } from './uws-pins.ts';

/** What the library's binary offers, as far as it is used here; its own types leave some of it out. */
export interface Library {
  App(): UwsApp;
  SSLApp(options: { cert_file_name: string; key_file_name: string }): UwsApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(option: 'silent'): void;
}

export interface UwsApp extends TemplatedApp {
  /** Seconds until a connection is closed that does not finish a head or a body. The newer build only. */
  setIdleTimeout?(seconds: number): void;
  /** Seconds until a connection is closed after an answer, whether that was read or not. The newer build only. */
  setResponseTimeout?(seconds: number): void;
  /** Apps among which this one divides the connections that it accepts; with none it keeps them. */
  addChildAppDescriptor?(app: AppDescriptor): void;
  removeChildAppDescriptor?(app: AppDescriptor): void;
  getDescriptor?(): AppDescriptor;
}

declare const descriptor: unique symbol;
type AppDescriptor = { readonly [descriptor]: true };

/** The types that go with it. */
export type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';

export interface UwsBuild {
  readonly library: Library;
  /** As its package calls itself. */
  readonly package: string;
  readonly version: string;
  /** `false` for an upstream release that the operator has installed: its binary is not checked. */
  readonly pinned: boolean;
  /** `endWithoutBody` takes a length and closes, as it says. */
  readonly endsHeads: boolean;
}

/** The environment variable that names the only package to load, by the package's own name: for going back, and for comparing. */
export const BUILD_VARIABLE = 'LINGATE_UWS_BUILD';

/** What the upstream project calls its package. It is on no registry; operators install it from its repository. */
const UPSTREAM = 'uWebSockets.js';

/** No build can be loaded here. */
export class NoUws extends ListenError {
  /** Without the advice. */
  readonly why: string;
  /** One lies where the pinned one should, and is another. */
  readonly replaced: boolean;

  constructor(why: string, advice: string, replaced = false) {
    super('cannot_listen', `${why}${advice}`);
    this.why = why;
    this.replaced = replaced;
  }
}

let loaded: UwsBuild | undefined;

/** One for the whole process, because it can be loaded only once. Throws a `NoUws` when there is none. */
export function loadUws(): UwsBuild {
  return (loaded ??= load(candidates(), process.env[BUILD_VARIABLE]));
}

/** `uWebSockets.js 20.57.0 (@btc-vision/uwebsockets.js)`. */
export function describeUws({ package: name, version, pinned }: Pick<UwsBuild, 'package' | 'version' | 'pinned'>): string {
  if (name === UPSTREAM) return `${UPSTREAM} ${version}${pinned ? '' : ' (not pinned)'}`;
  return `${UPSTREAM} ${version} (${name})`;
}

/** A package that may hold a build: `pin` is absent for an upstream release. */
export interface Candidate {
  readonly name: string;
  readonly version: string;
  /** Where its binaries lie. */
  readonly folder: string;
  readonly pin: PinnedBuild | undefined;
}

/** What is installed, in the order in which it is tried: the operator's upstream release, then the newer build, then the older. */
function candidates(): Candidate[] {
  const found = [OLDER, NEWER].flatMap((pin) => candidateOf(pin) ?? []);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ pin }: Candidate): number {
  return pin === undefined ? 0 : pin === NEWER ? 1 : 2;
}

function candidateOf(pin: PinnedBuild): Candidate | undefined {
  const file = packageFileOf(pin.installedAs);
  if (file === undefined) return undefined;
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly name: string; readonly version: string };
  if (name === UPSTREAM) return { name, version, folder: dirname(file), pin: undefined };
  return { name, version, folder: join(dirname(file), pin.folder), pin };
}

function packageFileOf(name: string): string | undefined {
  try {
    return findPackageJSON(name, import.meta.url);
  } catch {
    return undefined;
  }
}

/** The first one that loads; for tests with packages of their own. Throws a `NoUws` that says of each why it does not. */
export function load(found: readonly Candidate[], only: string | undefined): UwsBuild {
  const wanted = only === undefined || only === '' ? found : found.filter(({ name }) => name === only);
  if (wanted.length === 0 && wanted !== found) {
    const names = found.map(({ name }) => name).join(', ');
    throw new ListenError('cannot_listen', `${BUILD_VARIABLE}: there is no ${JSON.stringify(only)}; there are ${names}`);
  }
  const reasons: string[] = [];
  for (const candidate of wanted) {
    const tried = tryOne(candidate);
    if (typeof tried !== 'string') return tried;
    reasons.push(`${candidate.name} ${candidate.version}: ${tried}`);
  }
  const told = reasons.length === 0 ? 'it is not installed' : reasons.join('; ');
  throw new NoUws(`uWebSockets.js has no binary for this platform and Node (${told})`, ': use "listener: auto", which is node:http here');
}

/** Why it cannot be loaded on this platform; then the next one is tried. Throws when its binary is not the pinned one. */
function tryOne({ name, version, folder, pin }: Candidate): UwsBuild | string {
  const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const file = join(folder, binary);
  if (!existsSync(file)) return `no ${binary}`;
  if (pin !== undefined) checkPin(pin, name, version, file, binary);
  // The library reads it once, while it is loaded, from the process's environment: not from a worker thread's copy.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEAD_BYTES_MAX);
  try {
    // The binary itself, so that what is loaded is what was checked; the packages' wrappers do not export all of it.
    const library = createRequire(join(folder, 'package.json'))(file) as Library;
    // Without it every answer names the library; it has to come before the first app.
    library['_cfg']('silent');
    return { library, package: name, version, pinned: pin !== undefined, endsHeads: pin !== OLDER };
  } catch (error) {
    return reasonOf(error);
  }
}

function checkPin(pin: PinnedBuild, name: string, version: string, file: string, binary: string): void {
  const refuse = (what: string): never => {
    throw new NoUws(`${name} ${version}: ${what}`, '; run "npm ci", or use "listener: node"', true);
  };
  if (name !== pin.name || version !== pin.version) refuse(`the release that was looked at is ${pin.name} ${pin.version}`);
  const expected = pin.binaries[binary];
  if (expected === undefined) refuse(`nobody has looked at ${binary}`);
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (sha256 !== expected) refuse(`${binary} is not the file that was looked at (SHA-256 ${sha256}, not ${expected})`);
}

/** A C library that is too old is the usual reason; the rest of what the loader says names paths. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const needed = /version [`']?(GLIBC(?:XX)?_[\d.]+)'? not found/.exec(text)?.[1];
  return needed === undefined ? text.split('\n', 1)[0]! : `needs ${needed}`;
}
