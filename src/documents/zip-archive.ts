// A zip archive whose entries are inflated within limits and replaced one by one; all others keep their bytes.
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { refuse } from './refused-file.ts';
import type { ZipDirectory, ZipEntry } from './zip-directory.ts';

/** By the claim of the directory, which has been checked; one that claims too little is refused. */
export function inflated({ archive }: ZipDirectory, entry: ZipEntry): Uint8Array {
  const data = archive.subarray(entry.dataAt, entry.dataAt + entry.compressedBytes);
  const bytes = entry.method === 0 ? data : inflatedData(data, entry);
  if (bytes.length !== entry.bytes || crc32(bytes) !== entry.crc) refuse(`the entry ${entry.name} of the archive is damaged`);
  return bytes;
}

function inflatedData(data: Uint8Array, entry: ZipEntry): Uint8Array {
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, entry.bytes) });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
      refuse(`the entry ${entry.name} is longer than the archive says`);
    return refuse(`the entry ${entry.name} of the archive is damaged`);
  }
}

const DESCRIBED_BEHIND = 0x0008;

/** The archive with other content of some entries, in the same order, with the same names, times and attributes. */
export function rewritten(directory: ZipDirectory, changed: ReadonlyMap<ZipEntry, Uint8Array>): Uint8Array {
  if (changed.size === 0) return directory.archive;
  const { archive, directoryAt, endAt } = directory;
  const records = Buffer.from(archive.subarray(directoryAt));
  const parts: Uint8Array[] = [];
  let length = 0;
  const add = (bytes: Uint8Array): void => {
    parts.push(bytes);
    length += bytes.length;
  };
  const sorted = directory.entries.toSorted((a, b) => a.headerAt - b.headerAt);
  add(archive.subarray(0, sorted[0]?.headerAt ?? directoryAt));
  for (const [index, entry] of sorted.entries()) {
    const record = entry.recordAt - directoryAt;
    records.writeUInt32LE(length, record + 42);
    const content = changed.get(entry);
    if (content === undefined) {
      add(archive.subarray(entry.headerAt, sorted[index + 1]?.headerAt ?? directoryAt));
      continue;
    }
    const data = entry.method === 0 ? content : deflateRawSync(content);
    const header = Buffer.from(archive.subarray(entry.headerAt, entry.dataAt));
    // The numbers follow the signature in the same order in both, but the record has one more version before them.
    for (const [target, at] of [
      [header, 6],
      [records, record + 8],
    ] as const) {
      target.writeUInt16LE(target.readUInt16LE(at) & ~DESCRIBED_BEHIND, at);
      target.writeUInt32LE(crc32(content), at + 8);
      target.writeUInt32LE(data.length, at + 12);
      target.writeUInt32LE(content.length, at + 16);
    }
    add(header);
    add(data);
  }
  records.writeUInt32LE(length, endAt - directoryAt + 16);
  add(records);
  return Buffer.concat(parts);
}
