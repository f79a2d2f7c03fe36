// The first look at a file, on the event loop: its size, its first bytes, and of an archive the directory.
import type { DocumentFormat } from '../ports/document-formats.ts';
import { limitFileBytes } from './document-limits.ts';
import { rowOf } from './format-table.ts';
import { reasonOf, refuse } from './refused-file.ts';
import { zipDirectory } from './zip-directory.ts';

/** Enough to tell that a file is no text. */
const LOOKED_AT_BYTES = 4096;
/** Of other files that people send by mistake. */
const MAGIC: readonly (readonly [name: string, start: string])[] = [
  ['a zip archive', 'PK\u0003\u0004'],
  ['a PDF file', '%PDF-'],
  ['a file of an old Office program', '\u00d0\u00cf\u0011\u00e0'],
  ['a gzip file', '\u001f\u008b'],
  ['an RTF file', '{\\rtf'],
  ['a PNG picture', '\u0089PNG'],
];

export function firstLook(format: DocumentFormat, bytes: Uint8Array): string | undefined {
  return reasonOf(() => {
    limitFileBytes(bytes.length);
    const { entry } = rowOf(format);
    const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, LOOKED_AT_BYTES));
    const head = start.toString('latin1');
    const other = MAGIC.find(([, magic]) => head.startsWith(magic))?.[0];
    if (entry !== undefined) {
      if (other !== 'a zip archive') refuse(`the file is ${other ?? 'no zip archive'}, and not a ${format.name} file`);
      if (!zipDirectory(bytes).entries.some(({ name }) => name.toLowerCase().startsWith(entry)))
        refuse(`the file is a zip archive, but not a ${format.name} file`);
    } else {
      if (other !== undefined) refuse(`the file is ${other}, and not a ${format.name} file`);
      const isUtf16 = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
      if (!isUtf16 && start.includes(0)) refuse('the file is no text: it contains a zero byte');
      if (format.name.startsWith('xl') && !/^(?:\ufeff|\u00ef\u00bb\u00bf)?\s*</.test(head) && !isUtf16) refuse('the file is no XML');
    }
  });
}
