// Configuration files for tests: each in a folder of its own, removed after the test.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { ConfigError, loadConfig } from './door/gateways.ts';
import type { ConfigSources } from '../../src/config/load.ts';

/** Writes a file and returns its path. */
export function written(text: string, name = 'lingate.yaml', folder = freshFolder()): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Files for the commands of many tests, one for each text, removed after the tests where this is called: a command looks twice
 * at a file of the last second, 200 ms apart.
 */
export function writtenOnce(): (text: string) => string {
  const paths = new Map<string, string>();
  let folder: string | undefined;
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    folder = undefined;
    paths.clear();
  });
  return (text) => {
    let path = paths.get(text);
    if (path === undefined) {
      folder ??= mkdtempSync(join(tmpdir(), 'lingate-config-'));
      path = written(text, `lingate-${paths.size}.yaml`, folder);
      paths.set(text, path);
    }
    return path;
  };
}

export function loaded(text: string, sources: Partial<ConfigSources> = {}): Config {
  return loadConfig({ file: written(text), env: {}, ...sources });
}

/** The error lines for a configuration, without the file's name; none if it is accepted. */
export function refusals(text: string, sources: Partial<ConfigSources> = {}): string[] {
  return linesOf(written(text), sources);
}

export function linesOf(file: string, sources: Partial<ConfigSources> = {}): string[] {
  try {
    loadConfig({ file, env: {}, ...sources });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.lines.map((line) => line.replace(`${file}: `, ''));
  }
}
