// nginx as Debian packages it, with proxy_pass only: the baseline. Its settings are the OpenResty-style gateway's, too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { freePort } from '../../test/support/free-port.ts';
import { startPinned } from '../machine.ts';
import type { Program } from '../machine.ts';
import { plainProxy } from './contestant.ts';
import type { Contestant, Ground } from './contestant.ts';

export const nginx: Contestant = {
  name: 'nginx',
  does: 'proxy only: proxy_pass, persistent connections, one worker, access log',
  async start(ground) {
    return plainProxy(await startNginx(ground, { name: 'nginx', main: '', http: '', location: '' }));
  },
};

interface NginxParts {
  readonly name: string;
  /** Lines before everything: modules. */
  readonly main: string;
  /** Lines inside `http`. */
  readonly http: string;
  /** Lines inside the one location. */
  readonly location: string;
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export async function startNginx(ground: Ground, parts: NginxParts): Promise<Program> {
  const { cores, folder } = ground;
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, settings(ground, parts, port));
  const args = ['-p', folder, '-c', file, '-e', join(folder, 'error.log')];
  return startPinned('nginx', args, { cores: cores.gateway, port, folder, name: parts.name });
}

function settings({ enginePort }: Ground, { main, http, location }: NginxParts, port: number): string {
  // As root, the master would give its workers a user that cannot write here.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${main}
${user}
daemon off;
worker_processes 1;
pid nginx.pid;
events { worker_connections 9000; }
http {
  ${TEMPORARY.map((kind) => `${kind}_temp_path temp_${kind};`).join(' ')}
  access_log access.log combined;
  keepalive_requests 1000000000;
  client_max_body_size 2m;
  client_body_buffer_size 512k;
  upstream engine {
    server 127.0.0.1:${enginePort};
    keepalive 64;
    keepalive_requests 1000000000;
  }
  ${http}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /v1/translate {
      ${location}
      proxy_pass http://engine/translate;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}
