// Which HTTP library a configuration selects on this machine, and whether it supports what is configured; opens no port.
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import { takesLongBody } from '../domain/forward-route.ts';
import { ListenError } from '../server/listener.ts';

/** Why `listener: auto` is `node:http`. */
export interface WithoutUws {
  /** `replaced`: another file is in the place of a pinned binary. */
  readonly cause: 'no_binary' | 'replaced' | 'long_bodies';
  readonly why: string;
}

/** `undefined` if `listener: auto` is uWebSockets.js. Throws a `ListenError` if the operator has named a build that is not installed. */
export async function whyNode(config: Pick<Config, 'forward' | 'limits'>): Promise<WithoutUws | undefined> {
  const why = longBodies(config);
  return why === undefined ? whyWithoutUws() : { cause: 'long_bodies', why };
}

/**
 * The forward routes whose bodies may be longer than `limits.body_bytes`; `undefined` if there are none. uWebSockets.js keeps
 * delivering a body after a pause, so that the gateway would have to hold all of it.
 */
export function longBodies({ forward, limits }: Pick<Config, 'forward' | 'limits'>): string | undefined {
  const long = forward.filter((route) => takesLongBody(route, limits.bodyBytes));
  if (long.length === 0) return undefined;
  const { path, bodyBytesMax } = long.toSorted((a, b) => b.bodyBytesMax - a.bodyBytesMax)[0]!;
  const others = long.length === 1 ? '' : `, and ${long.length - 1} more`;
  return `forward: ${path} takes bodies of ${bodyBytesMax} bytes, more than limits.body_bytes (${limits.bodyBytes})${others}`;
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

/** Rejects with a `ConfigError` if `serve` would. Does not check without a build: the file may be for another machine. */
export async function checkIdleSeconds(config: Config): Promise<void> {
  const { file, listener, limits } = config;
  if (listener === 'node' || (listener === 'auto' && longBodies(config) !== undefined)) return;
  const { FIXED_IDLE_SECONDS, setTimers } = await import('../server/uws-timers.ts');
  // Loading a build would take a sixth of the time of `config check`.
  if (limits.idleSeconds <= FIXED_IDLE_SECONDS) return;
  const { loadUws } = await import('../server/uws-build.ts');
  let build;
  try {
    build = loadUws();
  } catch {
    return;
  }
  const app = build.library.App();
  try {
    setTimers(build, app, limits.idleSeconds);
  } catch (error) {
    if (error instanceof ListenError) throw new ConfigError([`${file}: ${error.message}`]);
    throw error;
  } finally {
    app.close();
  }
}
