// The Dockerfile's instructions and the configuration that results, for tests of everything that runs the image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { readArguments } from '../../../src/cli/run.ts';
import { commands } from '../../../src/cli/commands/serve.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { opsPages, WAITING } from '../../../src/ops/ops-pages.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export const read = (name: string): string => readFileSync(join(root, name), 'utf8');

export const version = (JSON.parse(read('package.json')) as { readonly version: string }).version;

type Instruction = readonly [name: string, rest: string];

/** `['COPY', 'config ./config']`; continued lines are joined. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  const instructions = lines.map((line) => /^([A-Z]+) +(.*)$/.exec(line)).filter((match) => match !== null);
  return instructions.map(([, name, rest]) => [name!, rest!]);
}

const dockerfile = instructionsOf(read('Dockerfile'));

/** The arguments of every instruction with that name. */
export const ofImage = (name: string): string[] => dockerfile.filter(([instruction]) => instruction === name).map(([, rest]) => rest);

/** The variables that the image sets. */
const imageEnv: Readonly<Record<string, string>> = Object.fromEntries(
  ofImage('ENV')
    .flatMap((rest) => rest.trim().split(/\s+/))
    .map((pair) => pair.split('=') as [name: string, value: string]),
);

/** The configuration in the image without further settings. */
export const imageConfig = loadConfig({ env: imageEnv });

/** The paths of the ops listener. */
export const opsPaths = Object.keys(
  opsPages(
    () => WAITING,
    { contentType: '', render: () => Promise.resolve('') },
    () => expect.unreachable(),
    [],
  ),
);

/** Fails for a variable that lingate does not read. */
function expectKnown(variable: string): void {
  expect(read('src/config/environment.ts')).toContain(`'${variable}'`);
}

/** The configuration that results from a container's command and variables; `fileAt` finds mounted files. Throws if it is wrong. */
export function configOf(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  fileAt: (path: string) => string = (path) => path,
): Config {
  expect(command[0]).toBe('serve');
  const { LINGATE_CONFIG: fromVariable, ...others } = env;
  for (const name of Object.keys(others)) expectKnown(name);
  const file = readArguments(commands[0]!, command.slice(1)).values.get('config')?.[0] ?? fromVariable;
  return loadConfig({ env: { ...imageEnv, ...others }, ...(file === undefined ? {} : { file: fileAt(file) }) });
}
