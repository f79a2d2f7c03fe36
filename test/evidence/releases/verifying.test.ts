// The manual's page on verifying a release: its commands are about what the workflow makes, and those that need no network run as they stand.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { codeBlocks, manualPage, manualSection } from '../../support/manual.ts';
import { runProgram } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, ROOT), 'utf8');
const PAGE = manualPage('verifying');
const WORKFLOW = read('.github/workflows/release.yml');
const { version } = JSON.parse(read('package.json')) as { version: string };
const blocks = codeBlocks(PAGE, 'sh');

test('three commands verify it', () => {
  const three = codeBlocks(manualSection('verifying', 'In three commands'), 'sh');
  expect(three.map((block) => block.trim().split(/ (?!verify)/)[0])).toEqual(['cosign verify-blob', 'sha256sum', 'cosign verify']);
  // Each is one command.
  expect(three.map((block) => block.trim().replaceAll('\\\n', '').split('\n'))).toEqual(three.map((): unknown => [expect.any(String)]));
});

test('the list of checksums is checked as it stands, and a changed file is found', async () => {
  const { folder } = startedUntil(onTestFinished);
  const check = blocks.find((block) => block.startsWith('sha256sum'))!;
  const files = [`lingate-${version}.tgz`, `lingate-${version}.cdx.json`];
  for (const name of files) writeFileSync(join(folder, name), name);
  // As `release.ts` writes it.
  expect(read('src/release.ts')).toContain('`${digestOf(file)}  ${file}\\n`');
  const sums = files.map((name) => `${createHash('sha256').update(name).digest('hex')}  ${name}\n`).join('');
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  const run = async (): Promise<number | null> =>
    (await runProgram('sh', ['-e', '-c', check], { cwd: folder, uses: ['sha256sum'] })).status;
  expect(await run()).toBe(0);
  writeFileSync(join(folder, files[0]!), 'something else');
  expect(await run()).toBe(1);
});

test('signatures are of the workflow that makes them, at the tag of this version', () => {
  const identities = [...PAGE.matchAll(/--certificate-identity (\S+)/g)].map(([, identity]) => identity);
  const own = `https://github.com/OWNER/lingate/.github/workflows/release.yml@refs/tags/v${version}`;
  expect(identities).toEqual([own, own]);
  expect(PAGE.match(/--certificate-oidc-issuer https:\/\/token\.actions\.githubusercontent\.com/g)).toHaveLength(2);
  expect(WORKFLOW).toContain('cosign sign-blob --yes --bundle release/SHA256SUMS.sigstore.json release/SHA256SUMS');
  expect(blocks[0]).toContain('cosign verify-blob SHA256SUMS --bundle SHA256SUMS.sigstore.json');
});

test('it names what the workflow pushes', () => {
  expect(WORKFLOW).toContain('image=ghcr.io/${GITHUB_REPOSITORY,,}');
  expect(WORKFLOW).toContain('name=${{ steps.name.outputs.image }}:${{ github.ref_name }}');
  expect(PAGE).toContain(`ghcr.io/OWNER/lingate:v${version}`);
  expect(PAGE).toContain(`lingate-${version}.tgz`);
});
