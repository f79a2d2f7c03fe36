// lingate openapi: the API's description, for client generators and gateways in front.
import type { Command } from '../command.ts';

export const openapi: Command = {
  name: 'openapi',
  summary: 'Prints the OpenAPI 3.1 document of the API.',
  usage: '',
  about: 'The same as /openapi.json of a running gateway. Server and documentation URLs are those of the configuration.',
  flags: {},
  examples: ['lingate openapi > openapi.json'],
  async run(context) {
    const config = await context.config();
    // Loaded late: it brings the whole gateway with it.
    const { describeApiWithPlugins } = await import('../../app/app.ts');
    const document = await describeApiWithPlugins(config);
    context.print(document, () => JSON.stringify(document, null, 2));
  },
};
