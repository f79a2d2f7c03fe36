// What the bench's own uWebSockets.js programs share: the library without its banner, and listening where they are told.
import type { TemplatedApp } from 'uWebSockets.js';

interface Library {
  App(): TemplatedApp;
  _cfg(setting: 'silent'): void;
}

const library = (await import('uWebSockets.js')) as unknown as Library;

export function uwsApp(): TemplatedApp {
  library['_cfg']('silent');
  return library.App();
}

export function listen(app: TemplatedApp, port: number): void {
  app.listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`cannot listen on port ${port}`);
  });
}
