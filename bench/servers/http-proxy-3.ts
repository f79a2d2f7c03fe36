// http-proxy-3 as its users run it: node:http in front, an agent that keeps connections to the engine.
import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';
import { numberArgument } from './common.ts';

const CONNECTIONS_MAX = 64;

const proxy = createProxyServer({
  target: `http://127.0.0.1:${numberArgument('engine')}/translate`,
  ignorePath: true,
  agent: new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX }),
});
proxy.on('error', (_error, _request, response) => {
  if ('writeHead' in response) response.writeHead(502).end();
});
const server = createServer((request, response) => proxy.web(request, response));
server.keepAliveTimeout = 0;
server.listen(numberArgument('port'), '127.0.0.1');
