// Finds a plan of the configuration by name.
import type { Config } from '../config/config.ts';
import { nearest } from '../config/nearest.ts';
import { limitsOf } from '../domain/plan.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { CommandFailure } from './failure.ts';

/** A plan's numbers, ready to be copied into a team's record. */
export function limitsOfPlan(config: Config, name: string): TeamLimits {
  const plan = config.plans.get(name);
  if (plan !== undefined) return limitsOf(plan);
  const names = [...config.plans.keys()];
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new CommandFailure(`the configuration has no plan ${JSON.stringify(name)}; there are ${names.join(', ')}${hint}`);
}
