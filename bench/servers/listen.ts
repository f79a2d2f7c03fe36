// Shared by the bench's own uWebSockets.js programs: the build that the gateway would load, and listening.
import type { TemplatedApp } from 'uWebSockets.js';
import { loadUws } from '../../src/server/uws-build.ts';

export function uwsApp(): TemplatedApp {
  return loadUws().library.App();
}

export function listen(app: TemplatedApp, port: number): void {
  app.listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`cannot listen on port ${port}`);
  });
}
