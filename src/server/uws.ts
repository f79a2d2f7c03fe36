// Starts the listener on uWebSockets.js: its port, TLS and timers.
import { HeaderFields } from './request-message.ts';
import { freePortOf, IDLE_SECONDS, ListenError, listenError, listenerOf, openListenerState } from './listener.ts';
import type { Listener, ListenerOptions, TlsFiles, TlsPair, TlsRenewal } from './listener.ts';
import { isOnDisk, pairOf, renewal, samePair, withTlsCopies } from './tls-files.ts';
import { describeUws, loadUws, setTimers } from './uws-build.ts';
import type { Library, UwsApp, us_listen_socket } from './uws-build.ts';
import { uwsHandler, wireOf } from './uws-call.ts';

type Listen = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void;

/** Throws a `ListenError` if it cannot listen. */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  if (options.gateway.router.routes.some(({ streamsBody }) => streamsBody === true)) {
    throw new ListenError('cannot_listen', 'uWebSockets.js cannot stream bodies: set "listener" to auto or node');
  }
  const build = loadUws();
  const { library } = build;
  const shared = openListenerState(options);
  const { idleSeconds = IDLE_SECONDS, host, port, exclusive = true } = options;
  const wire = wireOf(build.endsHeads, idleSeconds);
  const fields = new HeaderFields(options.gateway.headersRead);
  const open = (tls: TlsFiles | undefined): UwsApp => {
    const app = tls === undefined ? library.App() : openTlsApp(library, tls);
    setTimers(build, app, idleSeconds);
    app.any('/*', uwsHandler(shared, wire, fields));
    app.filter((_res, change) => void (shared.connections += change));
    return app;
  };
  const apps = new TlsApps(options.tls, open);
  const socket = await listen(apps.first, host, port, exclusive ? library.LIBUS_LISTEN_EXCLUSIVE_PORT : 0);
  const address = { host, port: library.us_socket_local_port(socket) };
  let accepting = true;
  const stopAccepting = (): void => {
    // The first call frees the socket.
    if (accepting) library.us_listen_socket_close(socket);
    accepting = false;
  };
  return listenerOf(shared, describeUws(build), address, {
    stopAccepting,
    renewTls: (files) => apps.renew(files),
    cut() {
      stopAccepting();
      apps.close();
    },
  });
}

/**
 * An app's certificate cannot be changed, and a second app on the port would lose connections waiting to be accepted. So the
 * first app keeps the port and passes accepted connections to the app with the latest certificate.
 */
class TlsApps {
  readonly first: UwsApp;
  readonly #open: (tls: TlsFiles) => UwsApp;
  readonly #all: UwsApp[];
  #inUse: TlsPair | undefined;

  constructor(tls: TlsFiles | undefined, open: (tls: TlsFiles | undefined) => UwsApp) {
    this.#open = open;
    const files = tls && { ...tls, contents: pairOf(tls) };
    this.#inUse = files?.contents;
    this.first = open(files);
    this.#all = [this.first];
  }

  renew(files: TlsFiles): TlsRenewal {
    const pair = pairOf(files);
    if (this.#inUse !== undefined && samePair(pair, this.#inUse)) return renewal(false, pair);
    const { first } = this;
    if (first.addChildAppDescriptor === undefined || first.removeChildAppDescriptor === undefined) {
      throw new ListenError('cannot_listen', 'TLS: this build of uWebSockets.js takes a renewed certificate only at a restart');
    }
    const app = this.#open({ ...files, contents: pair });
    const before = this.#all.at(-1)!;
    first.addChildAppDescriptor(app.getDescriptor!());
    if (before !== first) first.removeChildAppDescriptor(before.getDescriptor!());
    this.#all.push(app);
    this.#inUse = pair;
    return renewal(true, pair);
  }

  close(): void {
    for (const app of this.#all) app.close();
  }
}

/** The library reads the files itself: copies of them, unless the files had the right contents before and after that. */
function openTlsApp(library: Library, tls: TlsFiles): UwsApp {
  const pair = pairOf(tls);
  const open = (certFile: string, keyFile: string): UwsApp | undefined => {
    try {
      return library.SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
    } catch {
      return undefined;
    }
  };
  if (isOnDisk(pair, tls)) {
    const app = open(tls.certFile, tls.keyFile);
    if (app !== undefined && isOnDisk(pair, tls)) return app;
    app?.close();
  }
  const app = withTlsCopies(pair, open);
  if (app !== undefined) return app;
  throw new ListenError('cannot_listen', `TLS: uWebSockets.js does not accept ${tls.certFile} and ${tls.keyFile}`);
}

async function listen(app: UwsApp, host: string, port: number, options: number): Promise<us_listen_socket> {
  const bind = app.listen.bind(app) as unknown as Listen;
  const socket = await new Promise<us_listen_socket | false>((resolve) => bind(host, port, options, resolve));
  if (socket !== false) return socket;
  app.close();
  // The library only reports that it failed; Node's own attempt reveals why.
  await freePortOf(host, port);
  throw listenError(host, port, undefined);
}
