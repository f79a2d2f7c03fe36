// The manual's page about the sign-in by a provider: its commands run in a shell as they are, with a stand-in for the provider.
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SignInRefusal } from '../../../src/domain/operator.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { freePort } from '../../support/free-port.ts';
import { MAIN } from '../../support/lingate-command.ts';
import { codeBlocks, manualPage, manualSection } from '../../support/manual.ts';
import { CONSOLE_URL, OidcVisitor } from '../../support/oidc-visitor.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { runProgram, startProgram } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';

vi.setConfig({ testTimeout: 120_000 });

const DONE = '=== all blocks have run';
const USES = ['cat', 'curl', 'lingate', 'openssl'] as const;

test('from the configuration to the first sign-in in the audit', async () => {
  const started = startedUntil(onTestFinished);
  const { folder } = started;
  const provider = await startScriptedProvider();
  started.closes(() => provider.stop());
  const [variables, configuration, start, audit, ...more] = codeBlocks(manualPage('sign-in'), 'sh') as [string, string, string, string];
  expect(more).toEqual([]);
  await mkdir(join(folder, 'bin'));
  await symlink(MAIN, join(folder, 'bin/lingate'));
  const bare = bareEnvironment();
  const opsPort = await freePort();
  const env = {
    ...bare,
    PATH: [join(folder, 'bin'), dirname(process.execPath), bare['PATH']].join(delimiter),
    ISSUER: provider.issuer,
    CLIENT_ID: provider.clientId,
    LINGATE_OIDC_SECRET: provider.clientSecret,
    CONSOLE_URL,
    PORT: String(await freePort()),
    OPS_PORT: String(opsPort),
  };
  const script = `set -e\n${variables}${configuration}${start}printf '%s\\n' '${DONE}'\nwait\n`;
  const shell = await startProgram('sh', ['-c', script], { cwd: folder, env, uses: USES, ready: new RegExp(DONE), readyMsMax: 90_000 });
  try {
    expect(shell.output).toContain(`303 ${provider.issuer}/authorize?`);
    const browser = new OidcVisitor(opsPort);
    const person = { sub: '7', email: 'ada@example.com', groups: ['support'] };
    expect((await browser.comeBack(provider.approve(await browser.begin(), person))).status).toBe(200);
    const listed = await runProgram('sh', ['-c', `${variables}${audit}`], { cwd: folder, env, uses: USES });
    expect([listed.status, listed.stdout]).toEqual([0, expect.stringMatching(/ console:ada@example\.com@127\.0\.0\.1 +sign_in /)]);
  } finally {
    await shell.end();
  }
});

test('its table has every word for a refused sign-in', () => {
  const words: Readonly<Record<SignInRefusal, true>> = {
    wrong_state: true,
    used_before: true,
    declined: true,
    wrong_issuer: true,
    wrong_code: true,
    wrong_client: true,
    wrong_id_token: true,
    provider_error: true,
    provider_away: true,
    no_claim: true,
    no_group: true,
    store_away: true,
    wrong_token: true,
  };
  const rows = [...manualSection('sign-in', 'When it does not work').matchAll(/^\| `(\w+)` \|/gm)].map(([, word]) => word);
  expect(rows).toEqual(Object.keys(words));
});
