// lingate openapi: the API's OpenAPI document, for client generators and proxies.
import { describeApis } from '../../app/api-description.ts';
import { CommandFailure } from '../command.ts';
import type { Command } from '../command.ts';

export const openapi: Command = {
  name: 'openapi',
  summary: 'Prints the OpenAPI 3.1 document of the API.',
  usage: '[--plugin NAME]',
  about:
    'The same as /openapi.json of a running gateway, or as /openapi/NAME.json for a plugin with its own document. ' +
    'Server and documentation URLs come from the configuration.',
  flags: { plugin: { kind: 'text', value: 'NAME', summary: "print a plugin's own document instead" } },
  examples: ['lingate openapi > openapi.json', 'lingate openapi --plugin libretranslate'],
  async run(context) {
    const config = await context.config();
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
