// How long uWebSockets.js keeps a connection: sets the builds that can be set, and refuses values that the others cannot keep.
import { ListenError } from './listener.ts';
import { describeUws } from './uws-build.ts';
import type { UwsApp, UwsBuild } from './uws-build.ts';

/** The library's timers count in steps of so many seconds, and the first step may be nearly over. */
const STEP_SECONDS = 4;
/** A connection whose head or body does not come is closed after 8 to 12 seconds, as in builds that cannot be set. */
const PENDING_SECONDS = 10;
/** What a build that cannot be set keeps at least: its 10 seconds are three steps. */
const FIXED_IDLE_SECONDS = 8;

/** Throws a `ListenError` when an idle connection cannot be kept so long. To be called before listening. */
export function setTimers(build: Pick<UwsBuild, 'package' | 'version' | 'pinned'>, app: UwsApp, idleSeconds: number): void {
  if (app.setIdleTimeout !== undefined && app.setResponseTimeout !== undefined) {
    // In spite of the names, this is for connections whose request is not complete,
    app.setIdleTimeout(PENDING_SECONDS);
    // and this for the time after an answer; a step more, so that it is never less than configured.
    app.setResponseTimeout(idleSeconds + STEP_SECONDS);
  } else if (idleSeconds > FIXED_IDLE_SECONDS) {
    throw new ListenError(
      'cannot_listen',
      `limits.idle_seconds: ${describeUws(build)} keeps idle connections for ${FIXED_IDLE_SECONDS} seconds and cannot be told to for ${idleSeconds}; ` +
        'lower it, use "listener: node", or a system with glibc 2.38 (Debian 13, Ubuntu 24.04)',
    );
  }
}
