// A client generated from the running gateway's document by openapi-typescript and openapi-fetch compiles, and works.
import { copyFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { outputOf } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const TYPESCRIPT_API = new URL('typescript-api.ts', import.meta.url).href;
const PROGRAM = fileURLToPath(new URL('client-program.txt', import.meta.url));
const TSCONFIG = {
  compilerOptions: {
    target: 'ES2024',
    module: 'NodeNext',
    types: ['node'],
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  include: ['*.ts'],
};

const started = startedUntil(afterAll);
const { folder } = started;
let gateway: TestGateway;
let team: TestTeam;

beforeAll(async () => {
  gateway = await started.gateway({ engineUrls: [(await started.engine()).url] });
  team = await gateway.team();
  await symlink(MODULES, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await copyFile(PROGRAM, join(folder, 'program.ts'));
  const document = `${gateway.opsUrl}/openapi.json`;
  await node(['--import', TYPESCRIPT_API, join(MODULES, 'openapi-typescript/bin/cli.js'), document, '-o', 'gateway-api.ts']);
});

function node(args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], GATEWAY_URL: gateway.url, API_KEY: team.key };
  return outputOf('node', args, { cwd: folder, env, msMax: 30_000 });
}

test('a generated client compiles, and the compiler finds every mistake in a call', async () => {
  expect(await node([join(MODULES, 'typescript/bin/tsc'), '-p', folder])).toBe('');
});

test('it calls every route and gets answers that match its types', async () => {
  const stdout = await node(['program.ts']);
  expect(JSON.parse(stdout)).toEqual({
    translations: 2,
    billed: 6,
    requestId: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/) as string,
    tooLong: { max: 1000, sent: 1001 },
    why: 'unauthorized',
    formal: true,
    glossary: 'Terms',
    entries: { gateway: 'Torweg' },
    listed: 1,
    used: 200,
    deleted: 204,
    gone: 'glossary_not_found',
    left: 0,
    charged: 1,
    health: 'ok',
  });
});
