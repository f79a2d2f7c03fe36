// Which HTTP library a configuration selects on this machine, and whether it supports what is configured; opens no port.
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import { ListenError } from '../server/listener.ts';

/** Why `listener: auto` is `node:http` on this machine. */
export interface WithoutUws {
  readonly why: string;
  /** Another file is in the place of a pinned binary. */
  readonly replaced: boolean;
}

/** `undefined` if uWebSockets.js loads. Throws a `ListenError` if the operator has named a build that is not installed. */
export async function whyWithoutUws(): Promise<WithoutUws | undefined> {
  const { loadUws, NoUws } = await import('../server/uws-build.ts');
  try {
    loadUws();
    return undefined;
  } catch (error) {
    if (error instanceof NoUws) return error;
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
export async function checkIdleSeconds({ file, listener, limits }: Config): Promise<void> {
  if (listener === 'node') return;
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
