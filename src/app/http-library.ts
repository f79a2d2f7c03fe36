// Which HTTP library is selected here, and whether it supports what is configured; opens no port.
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import { ListenError } from '../server/listener.ts';

/** Why `listener: auto` is `node:http`. */
export interface WithoutUws {
  /** `replaced`: another file is in the place of a pinned binary. */
  readonly cause: 'no_binary' | 'replaced' | 'streams';
  readonly why: string;
}

/** `undefined` if `auto` is uWebSockets.js. A `ListenError` if the named build is missing. */
export async function whyNode(config: Pick<Config, 'forward' | 'documents'>): Promise<WithoutUws | undefined> {
  const why = streamingPart(config);
  return why === undefined ? whyWithoutUws() : { cause: 'streams', why };
}

/** What is configured with streamed bodies, which only node:http has. */
export function streamingPart({ forward, documents }: Pick<Config, 'forward' | 'documents'>): string | undefined {
  if (forward.length > 0) return 'forward: what these routes pass on is streamed';
  return documents === undefined ? undefined : 'documents: uploads are streamed';
}

/** `undefined` if uWebSockets.js loads. */
async function whyWithoutUws(): Promise<WithoutUws | undefined> {
  const { loadUws, NoUws } = await import('../server/uws-build.ts');
  try {
    loadUws();
    return undefined;
  } catch (error) {
    if (error instanceof NoUws) return { cause: error.replaced ? 'replaced' : 'no_binary', why: error.why };
    throw error;
  }
}

/** The build of uWebSockets.js that is loaded here, or why there is none. */
export async function describeUwsBuild(): Promise<string> {
  const { describeUws, loadUws } = await import('../server/uws-build.ts');
  try {
    return (await whyWithoutUws())?.why ?? describeUws(loadUws());
  } catch (error) {
    if (error instanceof ListenError) return error.message;
    throw error;
  }
}

/** Rejects as `serve` would. Not without a build: the file may be for another machine. */
export async function checkIdleSeconds(config: Config): Promise<void> {
  const { file, listener, limits } = config;
  if (listener === 'node' || (listener === 'auto' && streamingPart(config) !== undefined)) return;
  const { FIXED_IDLE_SECONDS, loadUws, setTimers } = await import('../server/uws-build.ts');
  // Loading a build would take a sixth of the time of `config check`.
  if (limits.idle_seconds <= FIXED_IDLE_SECONDS) return;
  let build;
  try {
    build = loadUws();
  } catch {
    return;
  }
  const app = build.library.App();
  try {
    setTimers(build, app, limits.idle_seconds);
  } catch (error) {
    if (error instanceof ListenError) throw new ConfigError([`${file}: ${error.message}`]);
    throw error;
  } finally {
    app.close();
  }
}
