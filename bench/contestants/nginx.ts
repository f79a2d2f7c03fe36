// nginx as Debian packages it, with proxy_pass only: the baseline.
import type { Contestant } from './contestant.ts';
import { startNginx } from './nginx-settings.ts';
import { plainProxy } from './plain.ts';

export const nginx: Contestant = {
  name: 'nginx',
  does: 'proxy only: proxy_pass, kept connections, one worker, access log',
  async start(ground) {
    return plainProxy(await startNginx(ground, { name: 'nginx', main: '', http: '', location: '' }));
  },
};
