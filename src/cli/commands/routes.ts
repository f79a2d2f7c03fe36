// lingate routes: the steps of every route in their final order, including those of plugins, and the rules for several engines.
import { describeRoutes } from '../../app/route-rows.ts';
import type { Command } from '../command.ts';
import type { RoutingRule } from '../../domain/engine-routing.ts';
import { textTable } from '../text-table.ts';

export const routes: Command = {
  name: 'routes',
  summary: 'Shows the steps of each route, including those of plugins.',
  usage: '',
  flags: {},
  examples: ['lingate routes'],
  async run(context) {
    const config = await context.config();
    const described = await describeRoutes(config);
    const { engines, routing } = config;
    const rules: readonly RoutingRule[] = routing ?? [{ engines: engines.map(({ name }) => name) }];
    const isRouted = engines.length > 1 || routing !== undefined;
    const steps = textTable(
      ['ROUTE', 'STEPS'],
      described.map((one) => [one.route, one.steps.join(' > ')]),
    );
    // Which engines the step `translate` uses.
    const table = textTable(
      ['PLANS', 'PAIRS', 'ENGINES'],
      rules.map((rule) => [rule.plans?.join(' ') ?? 'all', rule.pairs?.join(' ') ?? 'all', rule.engines.join(' > ')]),
    );
    context.print({ routes: described, ...(isRouted ? { routing: rules } : {}) }, () => (isRouted ? `${steps}\n\n${table}` : steps));
  },
};
