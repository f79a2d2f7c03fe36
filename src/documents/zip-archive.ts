// A zip archive: its directory, read strictly and cheaply enough for the event loop; entries that
// are inflated within limits and replaced one by one, while all others keep their bytes.
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { ENTRIES_MAX, ENTRY_BYTES_MAX, INFLATED_BYTES_MAX, inWords, RATIO_MAX, SMALL_BYTES, refuse } from './limits.ts';

export interface ZipEntry {
  readonly name: string;
  /** 0 is stored, 8 is deflated. */
  readonly method: 0 | 8;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  /** Where its local header, its data and its record in the directory begin. */
  readonly headerAt: number;
  readonly dataAt: number;
  readonly recordAt: number;
}

export interface ZipDirectory {
  readonly archive: Buffer;
  /** In the order of the directory. */
  readonly entries: readonly ZipEntry[];
  readonly directoryAt: number;
  readonly endAt: number;
}

const END = 0x06054b50;
const END_BYTES = 22;
const RECORD = 0x02014b50;
const RECORD_BYTES = 46;
const HEADER = 0x04034b50;
const HEADER_BYTES = 30;
const ZIP64_LOCATOR = 0x07064b50;
const COMMENT_BYTES_MAX = 0xffff;
/** Of flags: encrypted, strongly encrypted, with a masked header. */
const ENCRYPTED = 0x2041;
const UTF8 = 0x0800;
const MACROS = /(?:^|\/)(?:vbaproject\.bin|vbadata\.xml|macrosheets\/.*|basic\/.*|scripts\/.+)$/i;

/** Refuses what is encrypted, ambiguous, too large or not at home in a document. */
export function zipDirectory(bytes: Uint8Array): ZipDirectory {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const endAt = endOf(archive);
  const count = archive.readUInt16LE(endAt + 10);
  const directoryAt = archive.readUInt32LE(endAt + 16);
  const directoryBytes = archive.readUInt32LE(endAt + 12);
  const isZip64 = endAt >= 20 && archive.readUInt32LE(endAt - 20) === ZIP64_LOCATOR;
  if (isZip64 || count === 0xffff || directoryAt === 0xffffffff || directoryBytes === 0xffffffff)
    refuse('the file is a Zip64 archive, which is for files of more than 4 GiB');
  if (archive.readUInt16LE(endAt + 8) !== count || archive.readUInt32LE(endAt + 4) !== 0)
    refuse('the file is one part of several of an archive');
  if (count > ENTRIES_MAX) refuse(`the file is an archive with more than ${inWords(ENTRIES_MAX)} entries`);
  if (directoryAt + directoryBytes !== endAt) refuse('the directory of the archive is not where it should be');
  const entries: ZipEntry[] = [];
  let at = directoryAt;
  for (let index = 0; index < count; index++) {
    if (at + RECORD_BYTES > endAt || archive.readUInt32LE(at) !== RECORD) refuse('the directory of the archive is damaged');
    const next = at + RECORD_BYTES + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (next > endAt) refuse('the directory of the archive is damaged');
    entries.push(entryAt(archive, at));
    at = next;
  }
  if (at !== endAt) refuse('the directory of the archive is damaged');
  limitEntries(entries, directoryAt);
  return { archive, entries, directoryAt, endAt };
}

function endOf(archive: Buffer): number {
  for (let at = archive.length - END_BYTES; at >= Math.max(0, archive.length - END_BYTES - COMMENT_BYTES_MAX); at--) {
    if (archive[at] !== 0x50 || archive.readUInt32LE(at) !== END) continue;
    if (at + END_BYTES + archive.readUInt16LE(at + 20) === archive.length) return at;
  }
  return refuse('the file is no zip archive, or its end is missing');
}

function entryAt(archive: Buffer, at: number): ZipEntry {
  const flags = archive.readUInt16LE(at + 8);
  const method = archive.readUInt16LE(at + 10);
  const compressedBytes = archive.readUInt32LE(at + 20);
  const bytes = archive.readUInt32LE(at + 24);
  const nameBytes = archive.subarray(at + RECORD_BYTES, at + RECORD_BYTES + archive.readUInt16LE(at + 28));
  const headerAt = archive.readUInt32LE(at + 42);
  const name = nameBytes.toString((flags & UTF8) === 0 ? 'latin1' : 'utf8');
  limitName(name);
  const named = `the entry ${name.slice(0, 100)}`;
  if ((flags & ENCRYPTED) !== 0) refuse(`${named} is encrypted: remove the password of the file`);
  if (method !== 0 && method !== 8) refuse(`${named} is compressed in an unusual way`);
  // In the upper half of the attributes Unix has the kind of a file: a link.
  if (archive.readUInt32LE(at + 38) >>> 28 === 0xa) refuse(`${named} is a link`);
  if (MACROS.test(name)) refuse(`the file contains macros: ${name.slice(0, 100)}`);
  if (compressedBytes === 0xffffffff || bytes === 0xffffffff || headerAt === 0xffffffff) refuse(`${named} claims to have more than 4 GiB`);
  if (bytes > ENTRY_BYTES_MAX) refuse(`${named} is longer than ${inWords(ENTRY_BYTES_MAX)} when it is unpacked`);
  if (bytes > SMALL_BYTES && bytes > RATIO_MAX * compressedBytes) refuse(`${named} is compressed to less than a hundredth`);
  if (method === 0 && bytes !== compressedBytes) refuse(`${named} has two different lengths`);
  if (headerAt + HEADER_BYTES > archive.length || archive.readUInt32LE(headerAt) !== HEADER)
    refuse(`${named} is not where the archive says`);
  const nameEnd = headerAt + HEADER_BYTES + archive.readUInt16LE(headerAt + 26);
  const isSame = archive.subarray(headerAt + HEADER_BYTES, nameEnd).equals(nameBytes) && archive.readUInt16LE(headerAt + 8) === method;
  if (!isSame || (archive.readUInt16LE(headerAt + 6) & ENCRYPTED) !== 0) refuse(`${named} is described in two different ways`);
  const dataAt = nameEnd + archive.readUInt16LE(headerAt + 28);
  return { name, method, crc: archive.readUInt32LE(at + 16), compressedBytes, bytes, headerAt, dataAt, recordAt: at };
}

function limitName(name: string): void {
  const shown = JSON.stringify(name.slice(0, 100));
  // oxlint-disable-next-line no-control-regex -- exactly those
  if (name === '' || name.length > 500 || /[\u0000-\u001f\ufffd]/.test(name))
    refuse(`an entry of the archive has a name that cannot be right: ${shown}`);
  if (name.includes('\\')) refuse(`an entry of the archive has a backslash in its name, which programs read differently: ${shown}`);
  const leaves = name.startsWith('/') || /^[a-z]:/i.test(name) || name.split('/').includes('..');
  if (leaves) refuse(`an entry of the archive has a path that leads out of it: ${shown}`);
}

function limitEntries(entries: readonly ZipEntry[], directoryAt: number): void {
  const names = new Set<string>();
  let total = 0;
  for (const { name, bytes } of entries) {
    const key = name.toLowerCase();
    if (names.has(key)) refuse(`two entries of the archive have the name ${name.slice(0, 100)}`);
    names.add(key);
    total += bytes;
  }
  if (total > INFLATED_BYTES_MAX) refuse(`the file is longer than ${inWords(INFLATED_BYTES_MAX)} when it is unpacked`);
  let end = 0;
  for (const entry of entries.toSorted((a, b) => a.headerAt - b.headerAt)) {
    if (entry.headerAt < end) refuse('two entries of the archive share the same bytes');
    end = entry.dataAt + entry.compressedBytes;
  }
  if (end > directoryAt) refuse('an entry of the archive reaches beyond its end');
}

/** By the claim of the directory, which has been checked; one that claims too little is refused. */
export function inflated({ archive }: ZipDirectory, { name, method, crc, dataAt, compressedBytes, bytes }: ZipEntry): Uint8Array {
  const data = archive.subarray(dataAt, dataAt + compressedBytes);
  try {
    const content = method === 0 ? data : inflateRawSync(data, { maxOutputLength: Math.max(1, bytes) });
    if (content.length === bytes && crc32(content) === crc) return content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') refuse(`the entry ${name} is longer than the archive says`);
  }
  return refuse(`the entry ${name} of the archive is damaged`);
}

const DESCRIBED_BEHIND = 0x0008;

/** With other content of some entries, in the same order, with names, times and attributes. */
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
    // The numbers have the same order in both, but the record has one more version before them.
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
