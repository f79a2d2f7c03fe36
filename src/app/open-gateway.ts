// Opens the gateway with its routes, ids, clock and the reporting of bugs.
import type { Config } from '../config/config.ts';
import { Gateway } from '../core/gateway.ts';
import { Router } from '../core/router.ts';
import { OVERLOADED } from '../domain/refusals.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import type { Log } from '../ports/log.ts';
import type { Chains } from './chain.ts';

/** The sources of ids and time; tests pass their own. */
export interface Sources {
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

export function openGateway(config: Config, { routes, around }: Chains, log: Log, { newId, now }: Sources): Gateway {
  return new Gateway({
    router: new Router(routes, around),
    around,
    newId,
    now,
    requestMs: config.limits.requestMs,
    // By key and not by team, so that a revoked key takes nothing from the team's other keys.
    unfinished: { max: config.limits.concurrency, callerOf: (x) => x.get(keyOwnerSlot)?.keyId ?? '', refusal: OVERLOADED },
    reportBug: (x, where, error) => log.error('a bug', { request_id: x.id, where, reason: nameOf(error) }),
  });
}

/** The message of a bug may quote a caller's text, so only its class and where it was thrown are logged. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = error.stack?.slice(`${error.name}: ${error.message}`.length);
  const at = frames?.split('\n').find((line) => line.trimStart().startsWith('at '));
  return `${error.name} ${at?.trim() ?? ''}`;
}
