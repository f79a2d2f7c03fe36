// Places plugins' steps: after the step that each names, in every chain that has it.
import { routeName } from './route.ts';
import type { RouteRow } from './route.ts';
import type { Step } from './step.ts';

export interface StepPlacement {
  readonly step: Step;
  /** Name of the step after which this one runs; several after the same one keep their order. */
  readonly after: string;
  /** Names of the routes (`POST /v1/translate`) it is for; by default every route that has the step `after`. */
  readonly routes?: readonly string[];
}

/**
 * Inserts the names of plugins' steps into the chains. Throws, listing what is available, if a placement matches nothing or a
 * name is taken.
 */
export function placeSteps<Row extends RouteRow>(rows: readonly Row[], placements: readonly StepPlacement[]): Row[] {
  const ours = new Set(rows.flatMap((row) => row.steps));
  const placed = new Map<string, Step>();
  const chains = rows.map((row) => ({ row, name: routeName(row), steps: [...row.steps] }));
  const placedBehind = new Map<string, string>();
  for (const { step, after, routes } of placements) {
    if (ours.has(step.name) || (placed.get(step.name) ?? step) !== step) {
      throw new Error(`step "${step.name}": another step has this name; choose one that begins with the plugin's`);
    }
    const unknown = routes?.find((name) => !chains.some((chain) => chain.name === name));
    if (unknown !== undefined) throw new Error(`step "${step.name}": there is no route "${unknown}"`);
    let places = 0;
    for (const { steps, name } of chains) {
      if (routes !== undefined && !routes.includes(name)) continue;
      const anchor = steps.indexOf(after);
      if (anchor === -1) continue;
      let index = anchor + 1;
      while (index < steps.length && placedBehind.get(steps[index]!) === after) index++;
      steps.splice(index, 0, step.name);
      places++;
    }
    if (places === 0)
      throw new Error(`step "${step.name}": no route has a step "${after}"; there are ${[...ours, ...placed.keys()].join(', ')}`);
    placedBehind.set(step.name, after);
    placed.set(step.name, step);
  }
  return chains.map(({ row, steps }) => ({ ...row, steps }));
}
