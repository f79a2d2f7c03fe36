// lingate config check: whether a configuration is valid, and a summary of it.
import type { Config } from '../../config/config.ts';
import { formatNetworkAddress } from '../../config/network-address.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import type { RoutingRule } from '../../domain/engine-routing.ts';
import { longBodies } from '../../app/http-library.ts';
import type { EngineSettings } from '../../config/engine-options.ts';
import type { Command } from '../command.ts';
import { judgedConfig } from '../judged-config.ts';
import { labelled } from '../text-table.ts';

export const configCheck: Command = {
  about: 'All faults are listed at once. Reads the files that it refers to and sets up plugins; opens neither the store nor a port.',
  examples: ['lingate config check --config lingate.yaml'],
  async run(context) {
    const { engines, operators, forward, plugins } = await judgedConfig(context);
    await plugins.close();
    const config = await context.config();
    const routes = forward.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`));
    const admin = operators === undefined ? 'off' : 'on';
    const summary = {
      ...summaryOf(config),
      ...listenerSummaryOf(config),
      ...enginesSummaryOf(config, engines),
      admin,
      ...eventsSummaryOf(config),
      ...(routes.length === 0 ? {} : { forward: routes }),
    };
    context.print(
      { valid: true, ...summary },
      () =>
        `The configuration is valid.\n\n${labelled(Object.fromEntries(Object.entries(summary).map(([name, value]) => [name, textOf(value)])))}`,
    );
  },
};

function summaryOf(config: Config) {
  return {
    file: config.file,
    listen: formatNetworkAddress(config.listen),
    ops: formatNetworkAddress(config.ops),
    store: withoutCredentials(config.store),
    plans: [...config.plans.keys()],
    source_languages: config.languages.sources.length,
    target_languages: config.languages.targets.length,
  };
}

/** Only if the configuration decides it: otherwise `auto` depends on the machine. */
function listenerSummaryOf(config: Config) {
  const why = config.listener === 'auto' ? longBodies(config) : undefined;
  return why === undefined ? {} : { listener: 'node:http', listener_reason: why };
}

/** Without the query of the URL, which may contain a token. */
function eventsSummaryOf({ events }: Config) {
  if (events === undefined) return { events: 'off' };
  const { origin, pathname } = new URL(events.url);
  const { percents, creditMinor } = events.rules;
  return { events: `${origin}${pathname}`, event_thresholds: percents, event_credit_minor: creditMinor };
}

/** A single engine has members of its own, several are a list. Secrets appear only by name. */
function enginesSummaryOf({ routing }: Config, engines: readonly EngineSettings[]) {
  const [only] = engines;
  if (only!.config.place === 'engine' && routing === undefined) {
    const { protocol, urls } = only!.config;
    return { engine_protocol: protocol, engine_urls: urls, engine_options: only!.given, secrets_found: only!.secrets };
  }
  return {
    engines: engines.map(({ config: { name, protocol, urls } }) => `${name} (${protocol}): ${urls.join(' ')}`),
    engine_options: engines.flatMap(({ config: { name }, given }) => given.map((option) => `${name}.${option}`)),
    secrets_found: engines.flatMap(({ secrets }) => secrets),
    routing: routing === undefined ? ['all engines in their order'] : routing.map(ruleText),
  };
}

function ruleText({ plans, pairs, engines }: RoutingRule): string {
  const parts = [plans && `plans ${plans.join(' ')}`, pairs && `pairs ${pairs.join(' ')}`].filter((part) => part !== undefined);
  return `${parts.join(', ') || 'everything else'} to ${engines.join(', then ')}`;
}

function textOf(value: string | number | readonly (string | number)[]): string | number {
  return typeof value === 'object' ? value.join(', ') || 'none' : value;
}
