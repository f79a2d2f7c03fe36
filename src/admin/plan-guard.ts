// Whether a gateway that runs has other numbers for a plan than whoever is about to apply it: then one of the two is mistaken.
import type { TeamLimits } from '../domain/plan.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { GatewayRecords } from '../ports/gateway-records.ts';
import { numberChanges } from './plan-numbers.ts';
import type { NumberChange } from './plan-numbers.ts';

/** A gateway that says nothing for so long does not run. */
const RUNS_WITHIN_MS = 60_000;

export interface OtherNumbers {
  readonly host: string;
  readonly file: string;
  /** `from` is the gateway's, `to` the caller's. */
  readonly differences: readonly NumberChange[];
}

/** `records` is `undefined` for a store that keeps none: nobody can tell then. A gateway without the plan does not count. */
export async function gatewaysWithOtherNumbers(
  records: GatewayRecords | undefined,
  plan: string,
  limits: TeamLimits,
): Promise<readonly OtherNumbers[] | StoreUnavailable> {
  const recent = records === undefined ? [] : await records.recent(RUNS_WITHIN_MS);
  if (isUnavailable(recent)) return recent;
  return recent.flatMap(({ host, file, plans }) => {
    const theirs = Object.hasOwn(plans, plan) ? plans[plan] : undefined;
    const differences = theirs === undefined ? [] : numberChanges(theirs, limits);
    return differences.length === 0 ? [] : [{ host, file, differences }];
  });
}
