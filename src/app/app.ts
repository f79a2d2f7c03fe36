// The whole gateway in one process: it serves callers, and the operator's side is its own.
import type { Config } from '../config/config.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import { openJsonLog } from '../ops/json-log.ts';
import type { LogDestination } from '../ops/json-log.ts';
import { publicUrl } from './api-description.ts';
import { ONLY_PROCESS } from './configured-telemetry.ts';
import type { OnNewStore } from './parts.ts';
import { OperatorSide, openWaitingListener } from './operator-side.ts';
import type { Reloadable, ReloadReport } from './reload.ts';
import { openServing } from './serving.ts';
import { startProcess } from './until-stopped.ts';
import type { Stoppable } from './until-stopped.ts';

export { startDemoEngine } from '../demo/demo-engine.ts';

interface AppOptions {
  /** Where log lines go instead of standard output. */
  readonly logDestination?: LogDestination;
  /** Problem `type` URIs point to the ops listener, whatever `service.docs_url` says. */
  readonly docsOnOps?: boolean;
  readonly onNewStore?: OnNewStore;
}

/** A running gateway. */
export interface App extends Stoppable, Reloadable {
  readonly listen: NetworkAddress;
  readonly ops: NetworkAddress;
  readonly listenUrl: string;
  readonly opsUrl: string;
}

/** Rejects with a `ConfigError`, `StoreError` or `ListenError`, each with a message for operators. */
export function startApp(config: Config, { logDestination, docsOnOps = false, onNewStore }: AppOptions = {}): Promise<App> {
  const output = openJsonLog(logDestination);
  return startProcess(output, config.limits, 'lingate has stopped', async (down) => {
    const listener = await openWaitingListener(config, output.log, down);
    const serving = await openServing({ config, output, down, role: ONLY_PROCESS, onNewStore });
    const side = await OperatorSide.open({
      ...serving.parts,
      log: output.log,
      listener,
      docsOnOps,
      pluginApis: serving.parts.plugins,
      processes: {
        readiness: () => serving.readiness(),
        states: async () => ({ expected: 1, states: [serving.state()] }),
        recentRequests: async () => serving.recentRequests(),
        teamsChanged: () => serving.teamsChanged(),
        replace: (next) => serving.replace(next),
      },
    });
    const listen = await serving.listen({ docsUrl: side.docsUrl, port: config.listen.port, exclusive: true });
    side.announce(listen, 1);
    return {
      listen,
      ops: side.address,
      listenUrl: publicUrl(config, listen),
      opsUrl: side.url,
      get config() {
        return side.config;
      },
      reload: (next: Config) => side.reload(next),
      reported: (report: ReloadReport) => side.reported(report),
    };
  });
}
