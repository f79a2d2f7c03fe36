// What a reload must not lose: whole sections, and the end of a file. Either is more likely half a file than an operator's wish.
import { ConfigError, labelOf } from './config-error.ts';
import { ENGINE_URLS } from './config.ts';
import type { Config } from './config.ts';
import type { FileContents, FileRead } from './file-set.ts';
import type { SettledLoad } from './settled-load.ts';

/**
 * What a reload never takes away: without it the defaults would apply, such as an engine at the default address, which would get
 * the texts of callers. The names of one row stand in for each other.
 */
const KEPT_SECTIONS = [['engine', 'engines'], [ENGINE_URLS, 'engines'], ['plans'], ['store'], ['admin'], ['plugins']] as const;

/** The configuration for a reload of a gateway that runs with `running`. Throws a `ConfigError`. */
export function reloadedConfig(running: Config, { files, config }: SettledLoad): Config {
  let next: Config;
  try {
    next = config();
  } catch (error) {
    // Most files that were cut off have other faults as well, which say less.
    assertWhole(running, files.contents);
    throw error;
  }
  assertSectionsKept(running, next);
  assertWhole(running, files.contents);
  return next;
}

/** Throws a `ConfigError` with one line if `next` has lost whole sections of the configuration in force. */
function assertSectionsKept({ sources: { written } }: Config, { file, sources: next }: Config): void {
  const lost = KEPT_SECTIONS.flatMap((names) => (names.some((name) => next.written.includes(name)) ? [] : names));
  const gone = [...new Set<string>(lost)]
    .filter((name) => written.includes(name))
    // Part of a section that is named already.
    .filter((name, _index, all) => name !== ENGINE_URLS || !all.includes('engine'));
  if (gone.length === 0) return;
  const [is, it] = gone.length === 1 ? ['is', 'it'] : ['are', 'them'];
  throw new ConfigError([
    `${labelOf(file)}: ${gone.join(', ')}: ${is} gone, and a reload does not take ${it} away; a restart does, if it is meant`,
  ]);
}

/** Throws a `ConfigError` with a line for each file that was cut off. `now` are the files of a later load, which may have failed. */
function assertWhole({ tls, sources: { files } }: Config, now: FileContents): void {
  const lines = [...files].flatMap(([path, before]) => {
    // A certificate or key that was cut off keeps the one in force, and nothing else.
    if (path === tls?.certFile || path === tls?.keyFile) return [];
    const cut = cutOff(before, now.get(path));
    return cut === undefined ? [] : [`${labelOf(path)}: ${cut}`];
  });
  if (lines.length > 0) throw new ConfigError(lines);
}

/** How a file that was cut off is described; `undefined` for any other. Only blanks at the end may go. */
export function cutOff(before: FileRead | undefined, now: FileRead | undefined): string | undefined {
  if (before?.kind !== 'file' || now?.kind !== 'file' || now.bytes.length >= before.bytes.length) return undefined;
  const [whole, part] = [before, now].map(({ bytes }) => bytes.subarray(0, bytes.toString('latin1').trimEnd().length)) as [Buffer, Buffer];
  if (part.length >= whole.length || !whole.subarray(0, part.length).equals(part)) return undefined;
  if (part.length === 0) return 'is empty; was it still being written?';
  return `is only the beginning of the file in force (${now.bytes.length} of ${before.bytes.length} bytes), as if it was still being written; a restart takes it, if it is meant`;
}
