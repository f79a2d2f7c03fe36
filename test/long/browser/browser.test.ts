// The test browser reports a page's requests and errors, and isolates its tabs.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';

const PAGE = `<!doctype html><title>a page</title><link rel="icon" href="data:,"><body>
<img src="http://elsewhere.test/a.png" alt="">
<script>console.error('it', 'broke'); document.cookie = 'seen=1'; setTimeout(() => { throw new Error('nobody caught this'); });</script>`;

let browser: Browser;
let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html').setHeader('x-cookie', request.headers.cookie ?? '');
    response.end(
      request.url === '/' ? PAGE : `<!doctype html><link rel="icon" href="data:,"><p>cookie: ${request.headers.cookie ?? 'none'}`,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
  server.close();
});

test('errors and requests to other hosts are recorded, and no other host can be reached', async () => {
  const tab = await browser.newTab();
  expect(await tab.goto(`${origin}/`)).toBe(200);
  await expect.poll(() => tab.complaints.join('\n')).toContain('nobody caught this');
  expect(tab.complaints).toContain('console.error: it broke');
  expect(tab.complaints.join('\n')).toContain('ERR_NAME_NOT_RESOLVED');
  expect(tab.requestsBeyond(origin)).toEqual(['http://elsewhere.test/a.png']);
  await tab.close();
});

test('every tab has its own cookies', async () => {
  const [one, other] = [await browser.newTab(), await browser.newTab()];
  await one.goto(`${origin}/`);
  await one.goto(`${origin}/cookie`);
  await other.goto(`${origin}/cookie`);
  expect(await one.read('document.body.innerText')).toBe('cookie: seen=1');
  expect(await other.read('document.body.innerText')).toBe('cookie: none');
  await Promise.all([one.close(), other.close()]);
});
