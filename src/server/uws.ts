// Starts the listener on uWebSockets.js: opens its port, its TLS and its timers.
import { HeaderCollector } from './header-collector.ts';
import { IDLE_SECONDS, listenError, listenerOf, openListenerState } from './listener.ts';
import type { Listener, ListenerOptions, TlsFiles } from './listener.ts';
import { freePortOf } from './port-check.ts';
import { readTlsFiles } from './tls-files.ts';
import { describeUws, loadUws } from './uws-build.ts';
import type { Library, UwsApp, us_listen_socket } from './uws-build.ts';
import { UwsCall, wireOf } from './uws-call.ts';
import { setTimers } from './uws-timers.ts';

type Listen = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void;

/** Throws a `ListenError` when it cannot listen. */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  const build = loadUws();
  const { library } = build;
  const shared = openListenerState(options);
  const app = openApp(library, options.tls);
  const { idleSeconds = IDLE_SECONDS } = options;
  setTimers(build, app, idleSeconds);
  const wire = wireOf(build.endsHeads, idleSeconds);
  const collector = new HeaderCollector(options.gateway.headersWanted);
  app.any('/*', (res, req) => {
    const call = new UwsCall(shared, wire, res);
    // First of all: without it, a throw or a missing answer ends the process from inside the library.
    res.onAborted(() => call.gone());
    call.start(req, collector);
  });
  app.filter((_res, change) => void (shared.connections += change));
  const { host, port, exclusive = true } = options;
  const socket = await listen(app, host, port, exclusive ? library.LIBUS_LISTEN_EXCLUSIVE_PORT : 0);
  const address = { host, port: library.us_socket_local_port(socket) };
  let accepting = true;
  const stopAccepting = (): void => {
    // The socket is freed by the first call.
    if (accepting) library.us_listen_socket_close(socket);
    accepting = false;
  };
  return listenerOf(shared, describeUws(build), address, stopAccepting, () => {
    stopAccepting();
    app.close();
  });
}

function openApp(library: Library, tls: TlsFiles | undefined): UwsApp {
  if (tls === undefined) return library.App();
  readTlsFiles(tls);
  return library.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}

async function listen(app: UwsApp, host: string, port: number, options: number): Promise<us_listen_socket> {
  const bind = app.listen.bind(app) as unknown as Listen;
  const socket = await new Promise<us_listen_socket | false>((resolve) => bind(host, port, options, resolve));
  if (socket !== false) return socket;
  app.close();
  // The library only says that it failed; Node's own attempt says why.
  await freePortOf(host, port);
  throw listenError(host, port, undefined);
}
