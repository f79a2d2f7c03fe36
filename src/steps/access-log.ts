// Writes one log line per request when it has ended, however it ended.
import type { Outcome } from '../core/outcome.ts';
import type { Route } from '../core/route.ts';
import type { HeadStep } from '../core/step.ts';
import type { ClientAddressReader } from '../domain/client-address.ts';
import { clientAddressSlot, keyOwnerSlot, requestStatsSlot } from '../domain/slots.ts';
import type { AccessLog } from '../ports/access-entry.ts';

export interface AccessLogOptions {
  readonly log: AccessLog;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Reads the client's address from a request's fields. Without it, only requests with address-restricted keys are logged with one. */
  readonly client?: ClientAddressReader | undefined;
}

export function accessLogStep({ log, now, client }: AccessLogOptions): HeadStep {
  return {
    kind: 'head',
    name: 'access-log',
    ...(client === undefined ? {} : { headers: client.headers }),
    run: () => undefined,
    settle(x, outcome) {
      const owner = x.get(keyOwnerSlot);
      const stats = x.get(requestStatsSlot);
      log.record({
        requestId: x.id,
        route: x.route.name,
        status: statusOf(outcome, x.route),
        code: codeOf(outcome),
        teamId: owner?.teamId,
        keyId: owner?.keyId,
        characters: outcome.kind === 'reply' || outcome.kind === 'stream' ? (stats?.characters ?? 0) : 0,
        attempts: stats?.attempts ?? 0,
        engine: stats?.engine,
        client: client === undefined ? x.get(clientAddressSlot) : client.read(x.head.headers),
        limitOf: stats?.limitOf,
        durationMs: now() - x.startedAtMs,
        storeMs: stats?.storeMs ?? 0,
        engineMs: stats?.engineMs ?? 0,
      });
    },
  };
}

function statusOf(outcome: Outcome, { problemForm }: Route): number | undefined {
  switch (outcome.kind) {
    case 'reply':
    case 'stream':
      return outcome.status;
    case 'problem':
      return problemForm?.status(outcome.problem) ?? outcome.problem.kind.status;
    case 'client_closed':
      return undefined;
  }
}

function codeOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'reply':
    case 'stream':
      return 'ok';
    case 'problem':
      return outcome.problem.code;
    case 'client_closed':
      return 'client_closed';
  }
}
