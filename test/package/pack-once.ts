// Packs the package once for all of its tests.
import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { emptyFolder, pack } from './installed.ts';

export async function setup(project: TestProject): Promise<() => void> {
  const folder = emptyFolder();
  project.provide('packed', await pack(folder));
  return () => rmSync(folder, { recursive: true, force: true });
}
