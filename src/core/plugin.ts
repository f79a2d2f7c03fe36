// Plugins: a value that adds steps (placed by `after`) and engine protocols; listed in the configuration, never found by scan.
import type { Static, TSchema } from 'typebox';
import type { Slot } from './exchange.ts';
import { routeName } from './route.ts';
import type { RouteRow } from './route.ts';
import type { Step } from './step.ts';

/** What a plugin is given at boot. */
export interface PluginHost {
  /** Reserves a typed place on every exchange for what the plugin's steps hand to each other. */
  reserveSlot<T>(name: string): Slot<T>;
  /** Writes one line to the gateway's log. Never pass texts, keys or anything an engine said. */
  log(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
}

export interface StepPlacement {
  readonly step: Step;
  /** Name of the step behind which this one runs; several behind the same one keep their order. */
  readonly after: string;
  /** Names of the routes (`POST /v1/translate`) it is for; without it, every route that has the step `after`. */
  readonly routes?: readonly string[];
}

export interface PluginParts<Engine> {
  readonly steps?: readonly StepPlacement[];
  /** Engine protocols by the name that `engine.protocol` uses. */
  readonly engines?: Readonly<Record<string, Engine>>;
  /** Called once when the gateway has drained. */
  close?(): void | Promise<void>;
}

/**
 * A plugin's life: the configuration is validated against `options`, `setup` runs once at boot (it may wait), its steps
 * are placed and the chains are fixed, requests run, and `close` is called after the last of them.
 */
export interface PluginDefinition<Options extends TSchema, Engine> {
  readonly name: string;
  /** Schema of the plugin's `options` in the configuration. */
  readonly options: Options;
  setup(options: Static<Options>, host: PluginHost): PluginParts<Engine> | Promise<PluginParts<Engine>>;
}

/**
 * Puts the names of plugins' steps into the chains. Throws, naming what there is, when a placement fits nowhere or a name
 * is taken.
 */
export function placeSteps(rows: readonly RouteRow[], placements: readonly StepPlacement[]): RouteRow[] {
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
