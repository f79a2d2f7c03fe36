// Packs the package and installs it into a project once for all of its tests.
import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { emptyFolder, install, pack } from './installed.ts';

export async function setup(suite: TestProject): Promise<() => void> {
  const folders = [emptyFolder(), emptyFolder()] as const;
  const { tarball, packed } = await pack(folders[0]);
  suite.provide('tarball', tarball);
  suite.provide('project', { ...(await install(tarball, folders[1])), packed });
  return () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
}
