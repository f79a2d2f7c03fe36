// Help exists at every level, is printed to standard output, and names every argument and flag.
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { inProcess } from '../../support/lingate-command.ts';

const names = COMMANDS.map(({ name }) => name);
const groups = [...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ', 1)[0]!))];

async function help(words: string): Promise<string> {
  const { status, stdout, stderr } = await inProcess(words.split(' '));
  expect({ words, status, stderr }).toEqual({ words, status: 0, stderr: '' });
  return stdout;
}

const STORE_COMMANDS = ['store backup', 'store check', 'store copy', 'store migrate'];

describe('help', () => {
  test('the list of commands is complete', () => {
    const decided =
      'serve, demo, team create, team list, team show, team update, team delete, key create, key list, key find, key update, key revoke, tag set, tag list, tag delete, glossary list, glossary delete, usage, usage export, usage periods, invoices, plan apply';
    expect(names).toEqual([
      ...decided.split(', '),
      ...STORE_COMMANDS,
      'requests',
      'documents list',
      'audit list',
      'memory clear',
      'config check',
      'engine check',
      'engine route',
      'routes',
      'openapi',
    ]);
  });

  test('of lingate lists every command with its summary, however it is requested', async () => {
    const text = await help('--help');
    for (const { name, summary } of COMMANDS) expect(text).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
    expect(await help('-h')).toBe(text);
    expect(await help('help')).toBe(text);
  });

  test.each(groups)('of the group %s lists its commands', async (group) => {
    const text = await help(`${group} --help`);
    for (const name of names.filter((candidate) => candidate.startsWith(`${group} `))) expect(text).toContain(`  ${name}`);
    expect(await help(`${group} -h`)).toBe(text);
    expect(await help(`${group} help`)).toBe(text);
    expect(await help(`help ${group}`)).toBe(text);
  });

  test.each(names)('of %s shows usage, every flag and an example', async (name) => {
    const text = await help(`${name} --help`);
    const entry = COMMANDS.find((command) => command.name === name)!;
    const command = await entry.load();
    expect(text).toContain(`\n${entry.summary}`);
    expect(text).toContain(`Usage: lingate ${name}`);
    for (const [flag, { value }] of Object.entries(command.flags ?? {}))
      expect(text).toContain(value === undefined ? `--${flag}` : `--${flag} ${value}`);
    for (const flag of ['--config FILE', '--store URL', '--json', '--help']) expect(text).toContain(flag);
    for (const operand of command.operands ?? []) expect(command.usage).toContain(operand);
    for (const example of command.examples) expect(example).toMatch(new RegExp(`^lingate ${name}\\b`));
    expect(command.examples.length).toBeGreaterThan(0);
    expect(text.split('\n').filter((line) => line.length > 140)).toEqual([]);
    expect(await help(`${name} -h`)).toBe(text);
    expect(await help(`${name} help`)).toBe(text);
    expect(await help(`help ${name}`)).toBe(text);
  });

  test('takes precedence over any mistake in the line, but not after --', async () => {
    expect(await help('team create --nmae x --help')).toContain('Usage: lingate team create');
    expect((await inProcess(['team', 'show', '--', '--help'])).status).toBe(1);
  });
});
