// Loads a build of uWebSockets.js, newest first: only binaries with a pinned SHA-256, or an
// upstream release. Its only importer. Sets the timeouts of connections in builds that support it.
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { HEAD_BYTES_MAX, ListenError } from './listener.ts';

interface PinnedBuild {
  /** The package's own name. */
  readonly name: string;
  readonly version: string;
  /** The name under which it is installed. */
  readonly installedAs: string;
  /** The directory of its binaries within the package. */
  readonly folder: string;
  /** By file, whose number is Node's ABI: 127 is Node 22, 137 is Node 24; none for Node 26. */
  readonly binaries: Readonly<Record<string, string>>;
}

/** By btc-vision, from its fork; on Linux it needs glibc 2.38 (Debian 13, Ubuntu 24.04). */
export const NEWER: PinnedBuild = {
  name: '@btc-vision/uwebsockets.js',
  version: '20.57.0',
  installedAs: '@btc-vision/uwebsockets.js',
  folder: '.',
  binaries: {
    'uws_darwin_arm64_127.node': '6180345d453e2e113feb2b0d76376493cd6a90056c3483fc22de7b0c340dc231',
    'uws_darwin_arm64_137.node': '2187391c702fa7ad3bf685eff7712c15cf24fa7cf324a131dfcbae3fd0f20a9a',
    'uws_darwin_x64_127.node': 'fd551673f3ce1f104d7cec3ba8f628d9d04853eff1045c9d95983372ed90bca0',
    'uws_darwin_x64_137.node': '98fd7e9456e2d37d3262b05b053d673830927f91c63c0c2ae73bde8d19eef293',
    'uws_linux_arm64_127.node': '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895',
    'uws_linux_arm64_137.node': '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
    'uws_linux_x64_127.node': '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac',
    'uws_linux_x64_137.node': '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
    'uws_win32_x64_127.node': 'b4fa85dd015d6d32655f75e9d5b2480124b7649d9265a2b84d8dafe37f88f838',
    'uws_win32_x64_137.node': '84ae72d2149e6ffa2a44063344073599027b1ce8bffaab3957903f966b0c6bb9',
  },
};

/** Built by rtritto from uWebSockets of autumn 2024; works with glibc 2.27 and later. */
export const OLDER: PinnedBuild = {
  name: 'uws-pack',
  version: '20.0.8',
  installedAs: 'uWebSockets.js',
  folder: 'dist/bin',
  binaries: {
    'uws_darwin_arm64_127.node': 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
    'uws_darwin_x64_127.node': 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
    'uws_linux_arm_127.node': '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
    'uws_linux_arm64_127.node': 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
    'uws_linux_x64_127.node': '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
    'uws_win32_x64_127.node': '585d6ee2dbfc750b1d5a59e6ceaef8a977e90ef3e298a82821d58b41cd72a8c0',
  },
};

/** The parts of the library's binary used here; its own types omit some of them. */
export interface Library {
  App(): UwsApp;
  SSLApp(options: { cert_file_name: string; key_file_name: string }): UwsApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(option: 'silent'): void;
}

export interface UwsApp extends TemplatedApp {
  /** Seconds until a connection with an incomplete head or body is closed. Newer build only. */
  setIdleTimeout?(seconds: number): void;
  /** Seconds until a connection closes after an answer, read or not. Newer build only. */
  setResponseTimeout?(seconds: number): void;
  /** Distributes accepted connections among child apps; without any, the app keeps them. */
  addChildAppDescriptor?(app: AppDescriptor): void;
  removeChildAppDescriptor?(app: AppDescriptor): void;
  getDescriptor?(): AppDescriptor;
}

declare const descriptor: unique symbol;
type AppDescriptor = { readonly [descriptor]: true };

/** The library's own types. */
export type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';

export interface UwsBuild {
  readonly library: Library;
  /** The package's own name. */
  readonly package: string;
  readonly version: string;
  /** `false` for an upstream release installed by the operator, whose binary is not checked. */
  readonly pinned: boolean;
  /** Whether `endWithoutBody` honours its length and close arguments. */
  readonly endsHeads: boolean;
}

/** A variable that restricts loading to one package by its name: to roll back, and to compare. */
const BUILD_VARIABLE = 'LINGATE_UWS_BUILD';

/** Upstream's package name. It is in no registry; operators install it from its repository. */
const UPSTREAM = 'uWebSockets.js';

/** No build can be loaded here. */
export class NoUws extends ListenError {
  /** The reason without the advice. */
  readonly why: string;
  /** A different binary is in the place of the pinned one. */
  readonly replaced: boolean;

  constructor(why: string, advice: string, replaced = false) {
    super('cannot_listen', `${why}${advice}`);
    this.why = why;
    this.replaced = replaced;
  }
}

let loaded: UwsBuild | undefined;

/** Loaded once per process, as the library requires. Throws a `NoUws` if there is none. */
export function loadUws(): UwsBuild {
  return (loaded ??= load(candidates(), process.env[BUILD_VARIABLE]));
}

/** `uWebSockets.js 20.57.0 (@btc-vision/uwebsockets.js)`. */
export function describeUws({ package: name, version, pinned }: Pick<UwsBuild, 'package' | 'version' | 'pinned'>): string {
  if (name === UPSTREAM) return `${UPSTREAM} ${version}${pinned ? '' : ' (not pinned)'}`;
  return `${UPSTREAM} ${version} (${name})`;
}

/** A package that may contain a build; `pin` is absent for an upstream release. */
export interface Candidate {
  readonly name: string;
  readonly version: string;
  /** The directory of its binaries. */
  readonly folder: string;
  readonly pin: PinnedBuild | undefined;
}

/** In the order to try them: the operator's upstream release, the newer build, the older. */
function candidates(): Candidate[] {
  const found = [NEWER, OLDER].flatMap((pin) => candidateOf(pin) ?? []);
  return found.toSorted((a, b) => Number(a.pin !== undefined) - Number(b.pin !== undefined));
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

/** The first that works; tests pass their own. Throws a `NoUws` with all reasons. */
export function load(found: readonly Candidate[], only: string | undefined): UwsBuild {
  const chosen = only === undefined || only === '' ? found : found.filter(({ name }) => name === only);
  if (chosen.length === 0 && chosen !== found) {
    const names = found.map(({ name }) => name).join(', ');
    throw new ListenError('cannot_listen', `${BUILD_VARIABLE}: there is no ${JSON.stringify(only)}; there are ${names}`);
  }
  const reasons: string[] = [];
  for (const candidate of chosen) {
    const tried = tryOne(candidate);
    if (typeof tried !== 'string') return tried;
    reasons.push(`${candidate.name} ${candidate.version}: ${tried}`);
  }
  const why = reasons.length === 0 ? 'it is not installed' : reasons.join('; ');
  throw new NoUws(`uWebSockets.js has no binary for this platform and Node (${why})`, ': use "listener: auto", which is node:http here');
}

/** Or why it cannot be loaded here, to try the next. Throws if its binary is not the pinned one. */
function tryOne({ name, version, folder, pin }: Candidate): UwsBuild | string {
  const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const file = join(folder, binary);
  if (!existsSync(file)) return `no ${binary}`;
  if (pin !== undefined) checkPin(pin, name, version, file, binary);
  // The library reads it once, from the process's environment, not a worker thread's copy.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEAD_BYTES_MAX);
  try {
    // The binary as it was checked; the packages' wrappers do not export everything.
    const library = createRequire(join(folder, 'package.json'))(file) as Library;
    // Otherwise every answer would name the library. Must come before the first app.
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
  if (name !== pin.name || version !== pin.version) refuse(`the reviewed release is ${pin.name} ${pin.version}`);
  const expected = pin.binaries[binary];
  if (expected === undefined) refuse(`${binary} has not been reviewed`);
  const sha256 = hash('sha256', readFileSync(file));
  if (sha256 !== expected) refuse(`${binary} is not the reviewed file (SHA-256 ${sha256}, not ${expected})`);
}

/** Usually the C library is too old; anything else that the loader reports contains paths. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const needed = /version [`']?(GLIBC(?:XX)?_[\d.]+)'? not found/.exec(text)?.[1];
  return needed === undefined ? text.split('\n', 1)[0]! : `needs ${needed}`;
}

/** Granularity of the library's timers; the first step may already be nearly over. */
const STEP_SECONDS = 4;
/** Of an incomplete head or body: 8 to 12 seconds, as in builds without settings. */
const PENDING_SECONDS = 10;
/** Of builds without settings: their 10 seconds are three steps. Every build keeps to it. */
export const FIXED_IDLE_SECONDS = 8;

/** Throws a `ListenError` if idle connections cannot stay open that long. Before listening. */
export function setTimers(build: Pick<UwsBuild, 'package' | 'version' | 'pinned'>, app: UwsApp, idleSeconds: number): void {
  if (app.setIdleTimeout !== undefined && app.setResponseTimeout !== undefined) {
    // Despite the names, this one applies to connections with an incomplete request,
    app.setIdleTimeout(PENDING_SECONDS);
    // and this one to the time after an answer; one more step, so that it is never shorter.
    app.setResponseTimeout(idleSeconds + STEP_SECONDS);
  } else if (idleSeconds > FIXED_IDLE_SECONDS) {
    throw new ListenError(
      'cannot_listen',
      `limits.idle_seconds: ${describeUws(build)} keeps idle connections for ${FIXED_IDLE_SECONDS} seconds and cannot keep them for ${idleSeconds}; ` +
        'lower it, use "listener: node", or a system with glibc 2.38 (Debian 13, Ubuntu 24.04)',
    );
  }
}
