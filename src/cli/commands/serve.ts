// lingate serve: runs the gateway, in one process or several, until it gets a signal to stop.
import { ENGINE_FLAGS, LISTEN_FLAGS, UsageError, validConfig } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { newStoreText } from '../with-store.ts';
import type { App } from '../../app/app.ts';

const WORKERS_MAX = 64;

const serve: Command = {
  name: 'serve',
  summary: 'Runs the gateway.',
  logsWarnings: true,
  about:
    'It prints one line with both addresses when it is ready. After SIGTERM or SIGINT it first finishes the requests in flight. SIGHUP ' +
    'reloads languages, engine URLs, pairs, routing, plans, operators and TLS files.',
  flags: {
    ...LISTEN_FLAGS,
    ...ENGINE_FLAGS,
    workers: { value: 'N', summary: 'processes that share the port; about one per core', fallback: '1' },
  },
  examples: [
    'lingate serve',
    'lingate serve --listen 0.0.0.0:8080 --store redis://127.0.0.1:6379 --engine-url http://10.0.0.5:2737 --engine-protocol apertium',
    'lingate serve --workers 4 --store redis://127.0.0.1:6379',
  ],
  async run(context) {
    // Loaded on demand, because these load the whole gateway.
    const { isWorker, runAsWorker } = await import('../../app/worker.ts');
    if (isWorker(context.io.env)) return runAsWorker();
    const { startApp } = await import('../../app/app.ts');
    const { reload } = await import('../../app/reload.ts');
    const { runUntilStopped } = await import('../../app/until-stopped.ts');
    // Once all is ready, so that a failed start prints only the reason. The log has it as well.
    const made: string[] = [];
    const onNewStore = (place: string): void => void made.push(place);
    const workers = workersOf(context);
    const config = await validConfig(context);
    const start = async (): Promise<App> => {
      const app = await startApp(config, { workers, onNewStore });
      for (const place of made) context.io.err(newStoreText('serve', place));
      return app;
    };
    await runUntilStopped(start, (app) => reload(app, () => context.config('again'), context.io.env));
  },
};

function workersOf(context: CommandContext): number {
  const text = context.text('workers') ?? '1';
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= WORKERS_MAX) return count;
  throw new UsageError(`--workers: ${JSON.stringify(text)} is not a whole number from 1 to ${WORKERS_MAX}`);
}

export const commands = [serve];
