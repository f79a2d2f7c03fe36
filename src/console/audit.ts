// The audit line of a change that was made in the console: as the admin API writes it.
import type { AdminRouteId } from '../admin/admin-routes.ts';
import type { ConsoleParts, Visit } from './console-route.ts';

/** What was changed, without secrets. */
export interface Changed {
  readonly team_id?: string;
  readonly key_id?: string;
  readonly plan?: string;
  readonly teams?: number;
  readonly changed?: number;
}

export function audit({ log }: ConsoleParts, { requestId }: Visit, action: AdminRouteId, changed: Changed): void {
  log.info('audit', { action, ...changed, request_id: requestId });
}
