// Sees to it that the programs which the tests start are on this machine.
import { ensureInstalled } from './support/debian-packages.ts';

ensureInstalled([
  { package: 'redis-server', file: '/usr/bin/redis-server', why: 'the Redis store is tested against a real Redis' },
  { package: 'apertium-apy', file: '/usr/bin/apertium-apy', why: 'the engine adapter is tested against a real engine' },
  { package: 'apertium-eng-spa', file: '/usr/share/apertium/modes/eng-spa.mode', why: 'the real engine needs a language pair' },
  { package: 'haproxy', file: '/usr/sbin/haproxy', why: 'request smuggling is tried through a front proxy' },
  { package: 'nginx', file: '/usr/sbin/nginx', why: 'and through another one, which reads HTTP differently' },
  { package: 'openssl', file: '/usr/bin/openssl', why: 'tests of TLS make their own certificate' },
]);
