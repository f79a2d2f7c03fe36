// How long uWebSockets.js leaves a connection alone: what it is told where a build can be told, and what it cannot keep where not.
import { ListenError } from './listener.ts';
import { describeUws } from './uws-build.ts';
import type { UwsApp, UwsBuild } from './uws-build.ts';

/** Timers count steps of so many seconds, and the first of them may be nearly over. */
const STEP_SECONDS = 4;
/** A head or a body that does not come: gone after 8 to 12 seconds. The same in builds that cannot be told. */
const PENDING_SECONDS = 10;
/** What a build that cannot be told keeps at least: its 10 seconds are three steps. */
const FIXED_IDLE_SECONDS = 8;

/** Throws a `ListenError` when an idle connection cannot be kept so long. To be called before listening. */
export function setTimers(build: UwsBuild, app: UwsApp, idleSeconds: number): void {
  if (app.setIdleTimeout !== undefined && app.setResponseTimeout !== undefined) {
    // Their names say otherwise: this is for connections that owe us something,
    app.setIdleTimeout(PENDING_SECONDS);
    // and this for the time behind an answer. A step more, so that it is never less than was promised.
    app.setResponseTimeout(idleSeconds + STEP_SECONDS);
  } else if (idleSeconds > FIXED_IDLE_SECONDS) {
    throw new ListenError(
      'cannot_listen',
      `limits.idle_seconds: ${describeUws(build)} keeps idle connections for ${FIXED_IDLE_SECONDS} seconds and cannot be told to for ${idleSeconds}; ` +
        'lower it, use "listener: node", or a system with glibc 2.38 (Debian 13, Ubuntu 24.04)',
    );
  }
}
