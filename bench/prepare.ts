// Sees to it that the programs which the bench starts are on this machine.
import { ensureInstalled } from '../test/support/debian-packages.ts';

ensureInstalled([
  { package: 'redis-server', file: '/usr/bin/redis-server', why: 'the stores of three contestants' },
  { package: 'nginx', file: '/usr/sbin/nginx', why: 'the yardstick' },
  { package: 'haproxy', file: '/usr/sbin/haproxy', why: 'a contestant' },
  { package: 'libnginx-mod-http-lua', file: '/usr/lib/nginx/modules/ngx_http_lua_module.so', why: 'the OpenResty-style gateway' },
  { package: 'lua-nginx-redis', file: '/usr/share/lua/5.1/nginx/redis.lua', why: 'the OpenResty-style gateway talks to Redis' },
  { package: 'lua-resty-lrucache', file: '/usr/share/lua/5.1/resty/lrucache.lua', why: 'the OpenResty-style gateway caches keys' },
  { package: 'lua-cjson', file: '/usr/share/lua/5.1/cjson/util.lua', why: 'the OpenResty-style gateway reads JSON' },
  { package: 'util-linux', file: '/usr/bin/taskset', why: 'programs are pinned to cores' },
]);
