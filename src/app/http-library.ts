// Names the HTTP library of this machine, and checks that it can do what the configuration asks; opens no port.
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import { ListenError } from '../server/listener.ts';

/** The build of uWebSockets.js that `listener: uws` loads here; when there is none, why. */
export async function describeUwsBuild(): Promise<string> {
  const { describeUws, loadUws } = await import('../server/uws-build.ts');
  try {
    return describeUws(loadUws());
  } catch (error) {
    if (error instanceof ListenError) return error.message;
    throw error;
  }
}

/** Rejects with a `ConfigError` where `serve` would. No check without a build of the library: the file may be for another machine. */
export async function checkIdleSeconds({ file, listener, limits }: Config): Promise<void> {
  if (listener === 'node') return;
  const { loadUws } = await import('../server/uws-build.ts');
  const { setTimers } = await import('../server/uws-timers.ts');
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
