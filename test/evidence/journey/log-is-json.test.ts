// While a gateway serves, every line that it prints is JSON, whatever libraries, plugins or Node have to say.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { startedUntil } from '../../support/started.ts';

const TALKATIVE = `
  export default {
    name: 'talkative',
    options: {},
    setup() {
      console.log('%s said once', 'plugin');
      console.error(new Error('of a plugin'));
      for (let i = 0; i < 3; i++) console.warn('again and again');
      process.emitWarning('this is old', 'DeprecationWarning');
      return { routes: [], steps: [] };
    },
  };
`;

test.each([['1'], ['2']])('with a password that Redis does not ask for, and a plugin that prints: %s processes', async (workers) => {
  const { folder, url } = await startedUntil(onTestFinished).place('redis');
  const plugin = join(folder, 'talkative.mjs');
  await writeFile(plugin, TALKATIVE);
  const config = join(folder, `${workers}.yaml`);
  const store = url.replace('redis://', 'redis://:geheim@');
  await writeFile(config, JSON.stringify({ listen: '127.0.0.1:0', ops: '127.0.0.1:0', store, plugins: [{ module: plugin }] }));
  const gateway = await startGatewayProcess({ args: ['serve', '--config', config, '--workers', workers] });
  await gateway.end('SIGTERM');
  // A database is announced on standard error as well.
  const printed = gateway
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('lingate serve: made a new database'));
  const lines = printed.map((line) => JSON.parse(line) as { readonly msg: string; readonly level: string; readonly text?: string });
  const passwords = lines.filter(({ msg }) => msg.startsWith('the Redis store takes no password, but the URL has one'));
  expect(passwords.length).toBeGreaterThan(0);
  // One for each process that uses the store: the workers, and the primary that they have.
  expect(passwords.length).toBeLessThanOrEqual(workers === '1' ? 1 : Number(workers) + 1);
  expect(passwords[0]).toMatchObject({ level: 'warn' });
  const of = (text: string) => lines.filter((line) => line.text?.includes(text) === true).map(({ level }) => level);
  expect(of('plugin said once')[0]).toBe('info');
  expect(of('Error: of a plugin')[0]).toBe('error');
  expect(of('again and again').length).toBeLessThanOrEqual(Number(workers) + 1);
  expect(of('this is old')[0]).toBe('warn');
  expect(gateway.output()).not.toContain('geheim');
});
