// HAProxy as Debian packages it: a plain proxy on one thread, with its HTTP log.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { startPinned } from '../machine.ts';
import { plainProxy } from './contestant.ts';
import type { Contestant } from './contestant.ts';

export const haproxy: Contestant = {
  name: 'haproxy',
  does: 'proxy only: persistent connections, one thread, HTTP log',
  async start({ cores, folder, enginePort }) {
    const port = await freePort();
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, settings(port, enginePort));
    return plainProxy(await startPinned('haproxy', ['-db', '-f', file], { cores: cores.gateway, port, folder, name: 'haproxy' }));
  },
};

function settings(port: number, enginePort: number): string {
  return `global
  nbthread 1
  maxconn 9000
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend callers
  bind 127.0.0.1:${port}
  default_backend engine
backend engine
  http-request set-path /translate
  server engine 127.0.0.1:${enginePort}
`;
}
