// The Dockerfile's instructions and what they come to, for the tests of everything that runs the image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { readArguments } from '../../../src/cli/arguments.ts';
import { serve } from '../../../src/cli/commands/serve.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { opsPages } from '../../../src/ops/ops-pages.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const read = (name: string): string => readFileSync(join(root, name), 'utf8');

export const version = (JSON.parse(read('package.json')) as { readonly version: string }).version;

type Instruction = readonly [name: string, rest: string];

/** `['COPY', 'config ./config']`; continued lines are one. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  const instructions = lines.map((line) => /^([A-Z]+) +(.*)$/.exec(line)).filter((match) => match !== null);
  return instructions.map(([, name, rest]) => [name!, rest!]);
}

const dockerfile = instructionsOf(read('Dockerfile'));

/** The rest of every instruction of that name. */
export const ofImage = (name: string): string[] => dockerfile.filter(([instruction]) => instruction === name).map(([, rest]) => rest);

/** Variables that the image sets. */
export const imageEnv: Readonly<Record<string, string>> = Object.fromEntries(
  ofImage('ENV')
    .flatMap((rest) => rest.trim().split(/\s+/))
    .map((pair) => pair.split('=') as [name: string, value: string]),
);

/** What holds in the image when nothing more is said. */
export const imageConfig = loadConfig({ env: imageEnv });

/** Paths of the ops listener. */
export const opsPaths = Object.keys(
  opsPages({
    ready: () => true,
    metrics: { contentType: '', render: () => Promise.resolve('') },
    api: () => expect.unreachable(),
    documents: [],
  }),
);

/** A variable that lingate does not read would be set in vain. */
export function expectKnown(variable: string): void {
  expect(read('src/config/overrides.ts')).toContain(`'${variable}'`);
}

/** What the command and the variables of a container come to; `fileAt` finds what is mounted. Throws for what is wrong. */
export function configOf(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  fileAt: (path: string) => string = (path) => path,
): Config {
  expect(command[0]).toBe('serve');
  const { LINGATE_CONFIG: fromVariable, ...others } = env;
  for (const name of Object.keys(others)) expectKnown(name);
  const file = readArguments(serve, command.slice(1)).values.get('config')?.[0] ?? fromVariable;
  return loadConfig({ env: { ...imageEnv, ...others }, ...(file === undefined ? {} : { file: fileAt(file) }) });
}
