// A gateway from its start to its end: one process that serves callers, or workers that do, and
// beside them the operator's side.
import type { Config } from '../config/config.ts';
import { openJsonLog } from '../ops/json-log.ts';
import type { LogDestination } from '../ops/json-log.ts';
import { publicUrl } from './api-description.ts';
import { ONLY_PROCESS } from './configured-telemetry.ts';
import { OperatorSide, openOpsListener } from './operator-side.ts';
import type { OnNewStore } from './parts.ts';
import { openServing } from './serving.ts';
import { openIn, ProcessLife } from './until-stopped.ts';
import { openWorkers } from './workers.ts';

export { startDemoEngine } from '../demo/demo-engine.ts';

interface AppOptions {
  /** How many processes serve callers; with one it is this process. */
  readonly workers?: number;
  /** Where log lines go instead of standard output. */
  readonly logDestination?: LogDestination;
  /** Problem `type` URIs point to the ops listener, whatever `service.docs_url` says. */
  readonly docsOnOps?: boolean;
  readonly onNewStore?: OnNewStore;
}

/** A running gateway. */
export type App = Awaited<ReturnType<typeof startApp>>;

/** Rejects with a `ConfigError`, `StoreError` or `ListenError`, with words for operators. */
export function startApp(config: Config, { workers = 1, logDestination, docsOnOps = false, onNewStore }: AppOptions = {}) {
  const output = openJsonLog({ destination: logDestination, isShared: workers > 1 });
  const life = new ProcessLife(output, config.limits);
  return openIn(life, async () => {
    const listener = await openOpsListener(config, output.log, life);
    const opening = { config, life, role: ONLY_PROCESS, onNewStore };
    const processes = await (workers === 1 ? openServing(opening) : openWorkers(opening, workers));
    const side = new OperatorSide({ ...processes.parts, listener, docsOnOps, processes });
    const listen = await processes.listen({ docsUrl: side.docsUrl, port: config.listen.port, exclusive: true });
    side.announce(listen, workers);
    return Object.assign(side, { life, listen, listenUrl: publicUrl(config, listen) });
  });
}
