// lingate serve: runs the gateway until a signal asks it to stop.
import { startApp } from '../app.ts';
import type { Command, Flags } from './command.ts';
import { runUntilStopped } from './until-stopped.ts';

export const LISTEN_FLAGS: Flags = {
  listen: {
    kind: 'text',
    value: 'HOST:PORT',
    summary: 'public address; port 0 picks a free one',
    fallback: 'LINGATE_LISTEN, then the file',
  },
  ops: { kind: 'text', value: 'HOST:PORT', summary: 'address of probes, metrics and docs', fallback: 'LINGATE_OPS, then the file' },
};

export const serve: Command = {
  name: 'serve',
  summary: 'Runs the gateway.',
  usage: '[--listen HOST:PORT] [--ops HOST:PORT] [--engine-url URL]... [--engine-protocol NAME]',
  about: 'Prints one line with both addresses when it is ready. SIGTERM and SIGINT let requests in flight end first.',
  flags: {
    ...LISTEN_FLAGS,
    'engine-url': {
      kind: 'texts',
      value: 'URL',
      summary: 'a replica of the engine; may be repeated',
      fallback: 'LINGATE_ENGINE_URL, then the file',
    },
    'engine-protocol': {
      kind: 'text',
      value: 'NAME',
      summary: 'how the engine is spoken to',
      fallback: 'LINGATE_ENGINE_PROTOCOL, then the file',
    },
  },
  examples: [
    'lingate serve',
    'lingate serve --listen 0.0.0.0:8080 --store redis://127.0.0.1:6379 --engine-url http://10.0.0.5:2737 --engine-protocol apertium',
  ],
  async run(context) {
    const app = await startApp(await context.config());
    await runUntilStopped(app);
  },
};
