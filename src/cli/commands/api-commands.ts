// lingate routes and openapi: the steps of every route, and the API's OpenAPI document.
import type { RoutingRule } from '../../domain/engine-routing.ts';
import { CommandFailure } from '../command.ts';
import type { Command } from '../command.ts';
import { textTable } from '../printed.ts';

const routes: Command = {
  name: 'routes',
  summary: 'Shows the steps of each route, including those of plugins.',
  examples: ['lingate routes'],
  async run(context) {
    const config = await context.config();
    const { describeRoutes } = await import('../../app/route-rows.ts');
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

const openapi: Command = {
  name: 'openapi',
  summary: 'Prints the OpenAPI 3.1 document of the API.',
  about:
    'The same as /openapi.json of a running gateway, or as /openapi/NAME.json for a plugin with its own document. ' +
    'Server and documentation URLs come from the configuration.',
  flags: { plugin: { value: 'NAME', summary: "print a plugin's own document instead" } },
  examples: ['lingate openapi > openapi.json', 'lingate openapi --plugin libretranslate'],
  async run(context) {
    const config = await context.config();
    const { describeApis } = await import('../../app/api-description.ts');
    const { service, plugins } = await describeApis(config);
    const plugin = context.text('plugin');
    const document = plugin === undefined ? service : plugins.get(plugin);
    if (document === undefined) throw new CommandFailure(noDocument(plugin ?? '', [...plugins.keys()]));
    context.print(document, () => JSON.stringify(document, null, 2));
  },
};

function noDocument(plugin: string, names: readonly string[]): string {
  const there = names.length === 0 ? 'no plugin of this configuration has one' : `the plugins with one are ${names.join(', ')}`;
  return `plugin "${plugin}" has no document of its own; ${there}.`;
}

export const commands = [routes, openapi];
