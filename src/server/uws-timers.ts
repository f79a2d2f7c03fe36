// Connection timeouts of uWebSockets.js: sets them in builds that support it, and rejects values that other builds cannot
// honour.
import { ListenError } from './listener.ts';
import { describeUws } from './uws-build.ts';
import type { UwsApp, UwsBuild } from './uws-build.ts';

/** Granularity of the library's timers; the first step may already be nearly over. */
const STEP_SECONDS = 4;
/** A connection with an incomplete head or body is closed after 8 to 12 seconds, the same as in builds without settings. */
const PENDING_SECONDS = 10;
/** The minimum in builds without settings: their 10 seconds are three steps. Every build keeps connections for this long. */
export const FIXED_IDLE_SECONDS = 8;

/** Throws a `ListenError` if idle connections cannot be kept that long. Call it before listening. */
export function setTimers(build: Pick<UwsBuild, 'package' | 'version' | 'pinned'>, app: UwsApp, idleSeconds: number): void {
  if (app.setIdleTimeout !== undefined && app.setResponseTimeout !== undefined) {
    // Despite the names, this one applies to connections with an incomplete request,
    app.setIdleTimeout(PENDING_SECONDS);
    // and this one to the time after an answer; one step is added so that it is never shorter than configured.
    app.setResponseTimeout(idleSeconds + STEP_SECONDS);
  } else if (idleSeconds > FIXED_IDLE_SECONDS) {
    throw new ListenError(
      'cannot_listen',
      `limits.idle_seconds: ${describeUws(build)} keeps idle connections for ${FIXED_IDLE_SECONDS} seconds and cannot keep them for ${idleSeconds}; ` +
        'lower it, use "listener: node", or a system with glibc 2.38 (Debian 13, Ubuntu 24.04)',
    );
  }
}
