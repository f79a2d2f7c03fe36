// Reads Redis's append-only files: every write that a server kept, in order, with a script's effects grouped.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Its words, a character for each byte. */
export type Command = readonly string[];

/**
 * Settings under which everything that a server ever wrote can be read back: nothing is rewritten or kept in another
 * format. `everysec` is what operators run; later `args` take precedence.
 */
export const JOURNALLED: readonly string[] = [
  '--appendonly yes --appendfsync everysec',
  '--aof-use-rdb-preamble no --auto-aof-rewrite-percentage 0',
].flatMap((words) => words.split(' '));

/** Each entry is what one command or script wrote. An incomplete end, as a crash leaves it, does not count. */
export function readAof(directory: string): Command[][] {
  const folder = join(directory, 'appendonlydir');
  const manifest = join(folder, 'appendonly.aof.manifest');
  if (!existsSync(manifest)) throw new Error(`${directory} holds no append-only file: start its server with JOURNALLED`);
  const text = readFileSync(manifest, 'utf8');
  const filesOf = (type: 'b' | 'i') => [...text.matchAll(new RegExp(`^file (\\S+) seq \\d+ type ${type}`, 'gm'))].map((match) => match[1]!);
  const hasBeginning = filesOf('b').every((name) => parse(readFileSync(join(folder, name))).every(([word]) => word === 'SELECT'));
  if (!hasBeginning) throw new Error(`${directory} begins with a copy of another server's data: what led to it is not in its history`);
  const transactions: Command[][] = [];
  let open: Command[] | undefined;
  for (const command of filesOf('i').flatMap((name) => parse(readFileSync(join(folder, name))))) {
    const word = command[0]!.toUpperCase();
    if (word === 'MULTI') {
      open = [];
    } else if (word === 'EXEC') {
      transactions.push(open ?? []);
      open = undefined;
    } else if (word !== 'SELECT') {
      if (open === undefined) transactions.push([command]);
      else open.push(command);
    }
  }
  return transactions;
}

const CR = 13;

function parse(bytes: Buffer): Command[] {
  const commands: Command[] = [];
  let at = 0;
  /** The number after a marker (`*` or `$`), advancing past its line; `undefined` at an incomplete end. */
  const number = (marker: string): number | undefined => {
    const end = bytes.indexOf(CR, at);
    if (end === -1 || end + 2 > bytes.length) return undefined;
    if (bytes[at] !== marker.charCodeAt(0)) throw new Error(`an append-only file is broken at byte ${at}`);
    const value = Number(bytes.toString('latin1', at + 1, end));
    at = end + 2;
    return value;
  };
  while (at < bytes.length) {
    const count = number('*');
    if (count === undefined) break;
    const words: string[] = [];
    while (words.length < count) {
      const length = at < bytes.length ? number('$') : undefined;
      if (length === undefined || at + length + 2 > bytes.length) return commands;
      words.push(bytes.toString('latin1', at, at + length));
      at += length + 2;
    }
    commands.push(words);
  }
  return commands;
}
