// The manual's examples for clients of the DeepL API, unchanged, and what their SDKs send in other languages than ours.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onOneGateway } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';
import type { Startable } from '../../support/start-program.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';

/** The only code block in the manual's section on a client. */
function linesOf(section: string, language: string): string {
  const blocks = codeBlocks(manualSection('deepl-api', section), language);
  expect(blocks).toHaveLength(1);
  return blocks[0]!;
}

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2' }] } }, (setting) => {
  let team: TestTeam;
  let folder: string;

  beforeAll(async () => {
    team = await setting.gateway.team();
    folder = await mkdtemp(join(tmpdir(), 'lingate-clients-'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Its output, line by line. Only the address is replaced. */
  async function run(program: Startable, file: string, lines: string): Promise<string[]> {
    await writeFile(join(folder, file), lines.replace(ADDRESS, `http://127.0.0.1:${setting.gateway.port}`));
    const env = { ...process.env, LINGATE_KEY: team.key };
    return (await outputOf(program, [file], { cwd: folder, env })).trimEnd().split('\n');
  }

  test('the lines for Node', async () => {
    const [line] = await run('node', 'lines.mjs', linesOf("DeepL's SDK for Node", 'js'));
    expect(line).toMatch(/^\[DE\] Hello, world! \((?:0|13) of 1000000\)$/);
  });

  test('the lines for Python', async () => {
    expect(await run('python3', 'lines.py', linesOf("DeepL's SDK for Python", 'python'))).toEqual(['[DE] Hello, world!']);
  });

  test('the lines for Ruby', async () => {
    expect(await run('ruby', 'lines.rb', linesOf("DeepL's SDK for Ruby", 'ruby'))).toEqual(['[DE] Hello, world!']);
  });
});
