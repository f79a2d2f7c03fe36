// Compares a plan in this command's configuration with the same plan of the gateways that run on the store.
import { planLimits } from '../admin/team-terms.ts';
import { gatewaysWithOtherNumbers } from '../admin/plan-comparison.ts';
import type { NumberChange, OtherNumbers } from '../admin/plan-comparison.ts';
import { answered } from '../domain/store-unavailable.ts';
import type { Store } from '../ports/store.ts';
import type { CommandContext } from './command.ts';

/**
 * One sentence that names both configurations and the difference; `undefined` if every gateway that ran within the last
 * minute has the same numbers, or none. If this configuration does not have the plan, the command itself refuses it.
 */
export async function otherNumbers(context: CommandContext, { gateways }: Store, plan: string): Promise<string | undefined> {
  const { plans, file } = await context.config();
  const { labelOf } = await import('../config/load.ts');
  const limits = planLimits(plans, plan);
  if (limits.kind !== 'done') return undefined;
  const [first, ...more] = answered(await gatewaysWithOtherNumbers(gateways, plan, limits.value));
  return first && sentence(plan, first, more.length, labelOf(file), first.file === file);
}

function sentence(plan: string, { host, file, differences }: OtherNumbers, more: number, ours: string, isSame: boolean): string {
  const theirs = differences.map(({ number, from }) => `${number} ${shownNumber(from)}`).join(', ');
  const our = differences.map(({ number, to }) => `${number} ${shownNumber(to)}`).join(', ');
  const others = more === 0 ? '' : `, and ${more} more gateway${more === 1 ? '' : 's'} with the same numbers`;
  const here = isSame ? `${ours} has now` : `this command's ${ours} has`;
  return `the gateway on ${host} uses ${file}, in which plan ${plan} has ${theirs}${others}; ${here} ${our}`;
}

function shownNumber(value: NumberChange['from']): string {
  return value === null ? 'none' : String(value);
}
