// The manual's table "More mistakes": each is made, and the promised words appear where and when the table says.
import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { scriptedTranslation, status } from '../../../src/testing.ts';
import { V1 } from '../../support/fronts.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { manualSection } from '../../support/manual.ts';
import { request } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

/** A machine under load is slower than the manual's machine. */
const SLOWER = 10;

interface Promised {
  readonly words: readonly string[];
  readonly withinMs: number;
}

const SECTION = manualSection('first-hour', 'More mistakes');

/** The rows of the table, by the mistake. */
const TABLE: ReadonlyMap<string, Promised> = new Map(
  SECTION.split('\n')
    .filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| mistake'))
    .map((row) => {
      const [mistake = '', said = '', , within = ''] = row.replace(/^\| /, '').split(' | ');
      const words = [...said.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
      return [mistake, { words, withinMs: Number(/^(\d+) s/.exec(within)?.[1] ?? 1) * 1000 }];
    }),
);

const started = startedUntil(afterAll);
const engine = await started.engine();

/** Polls until all the row's words are there, for as long as the table says on an idle machine. */
async function expectWords(mistake: string, output: () => string): Promise<void> {
  const { words, withinMs } = TABLE.get(mistake)!;
  expect(words.length).toBeGreaterThan(0);
  for (const word of words) await expect.poll(output, { timeout: withinMs * SLOWER }).toContain(word);
}

const gatewayOf = (engineUrls: readonly string[], config: Readonly<Record<string, unknown>> = {}): Promise<TestGateway> =>
  started.gateway({ engineUrls, config });

async function translate(gateway: TestGateway, times = 1): Promise<void> {
  const { key } = await gateway.team();
  for (let time = 0; time < times; time++) await request({ port: gateway.port, ...V1.translation(key, ['a']) });
}

test('the table has these rows, and each names a section of the manual', () => {
  expect([...TABLE.keys()]).toEqual([
    'wrong store',
    'wrong engine key',
    'wrong path of the engine',
    'a proxy that speaks HTTP/1.0',
    'full Redis',
    'hung replica',
    'mistyped variable',
  ]);
  const named = [...SECTION.matchAll(/\| \[([^\]|]+)\]\(([\w-]*?)(?:\.md)?#[\w-]+\) \|$/gm)];
  expect(named).toHaveLength(TABLE.size);
  for (const [, title, page] of named) expect(manualSection(page || 'first-hour', title!)).not.toBe('');
});

test('wrong store', async () => {
  const { status: ended, stderr } = await inProcess(['team', 'list', '--store', `sqlite:${started.folder}/wrong.db`]);
  expect(ended).toBe(1);
  await expectWords('wrong store', () => stderr);
});

test.each([
  ['wrong engine key', 401],
  ['wrong path of the engine', 404],
])('%s', async (mistake, code) => {
  engine.always(status(code));
  const gateway = await gatewayOf([engine.url]);
  await translate(gateway);
  await expectWords(mistake, () => gateway.logLines.join(''));
});

test.each(LISTENERS)('a proxy that speaks HTTP/1.0, which only uWebSockets.js rejects: %s', async (listener) => {
  const gateway = await gatewayOf([engine.url], { listener });
  const socket = connect(gateway.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write('GET /health HTTP/1.0\r\nHost: lingate\r\n\r\n');
  if (listener === 'uws') await expectWords('a proxy that speaks HTTP/1.0', () => received);
  else await expect.poll(() => received).toContain('HTTP/1.1 200 OK');
});

test('full Redis', async () => {
  const { url } = await started.place('redis');
  const gateway = await started.gateway({ store: url, engineUrls: [engine.url] });
  const operator = new Redis(url);
  await operator.config('SET', 'maxmemory', '1');
  operator.disconnect();
  await expectWords('full Redis', () => gateway.logLines.join(''));
  const ready = (): Promise<number> =>
    request({ port: gateway.opsPort, path: '/readyz', headers: { host: 'localhost' } }).then(({ status: code }) => code);
  await expect.poll(ready).toBe(503);
});

test('hung replica', async () => {
  const hung = await started.engine();
  hung.always(() => undefined);
  engine.always((asked, response) => {
    const { text } = JSON.parse(asked.body) as { text: string[] };
    response.end(JSON.stringify({ translations: text.map((one) => ({ text: scriptedTranslation(one, 'DE') })) }));
  });
  const gateway = await gatewayOf([hung.url, engine.url], { engine: { timeout_ms: 500 } });
  await translate(gateway, 8);
  await expectWords('hung replica', () => gateway.logLines.join(''));
});

test('mistyped variable', async () => {
  const { status: ended, stderr } = await inProcess(['config', 'check'], { LINGATE_STROE: 'sqlite:a.db' });
  expect(ended).toBe(0);
  await expectWords('mistyped variable', () => stderr);
});
