// The whole gateway in one process: it serves callers, and the operator's side is its own.
import type { Config } from '../config/config.ts';
import { openJsonLog } from '../ops/json-log.ts';
import type { LogDestination } from '../ops/json-log.ts';
import { publicUrl } from './api-description.ts';
import { ONLY_PROCESS } from './configured-telemetry.ts';
import type { OnNewStore } from './parts.ts';
import { OperatorSide, openOpsListener } from './operator-side.ts';
import { openServing } from './serving.ts';
import { startProcess } from './until-stopped.ts';

export { startDemoEngine } from '../demo/demo-engine.ts';

interface AppOptions {
  /** Where log lines go instead of standard output. */
  readonly logDestination?: LogDestination;
  /** Problem `type` URIs point to the ops listener, whatever `service.docs_url` says. */
  readonly docsOnOps?: boolean;
  readonly onNewStore?: OnNewStore;
}

/** A running gateway. */
export type App = Awaited<ReturnType<typeof startApp>>;

/** Rejects with a `ConfigError`, `StoreError` or `ListenError`, with words for operators. */
export function startApp(config: Config, { logDestination, docsOnOps = false, onNewStore }: AppOptions = {}) {
  const output = openJsonLog(logDestination);
  return startProcess(output, config.limits, 'lingate has stopped', async (down) => {
    const listener = await openOpsListener(config, output.log, down);
    const serving = await openServing({ config, output, down, role: ONLY_PROCESS, onNewStore });
    const side = await OperatorSide.open({
      ...serving.parts,
      log: output.log,
      listener,
      docsOnOps,
      pluginApis: serving.parts.plugins,
      processes: serving,
    });
    const listen = await serving.listen({ docsUrl: side.docsUrl, port: config.listen.port, exclusive: true });
    side.announce(listen, 1);
    return Object.assign(side, { listen, listenUrl: publicUrl(config, listen) });
  });
}
