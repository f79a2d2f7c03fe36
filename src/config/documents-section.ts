// The section `documents` of a configuration: where files are kept, for how long, and how many bytes.
import type { Static } from 'typebox';
import { Type } from '../domain/typebox.ts';
import { closed, matching, whole } from './schema-parts.ts';

const HOUR_MS = 3_600_000;

export const DocumentsSection = Type.Object(
  {
    keep: matching('store, or the path of a directory that all gateways share', /^[^\0]+$/, { default: 'store' }),
    // Only read when the gateway starts: other commands do not need it.
    secret: Type.Unknown({ is: 'a secret' }),
    hours: whole(1, 720, 24),
    bytes: whole(1024, 31_457_280, 31_457_280),
    store_bytes: whole(1_048_576, 1_099_511_627_776, 1_073_741_824),
    slowest_bytes_per_second: whole(1, 1_048_576, 1024),
  },
  closed,
);

export function toDocuments(raw: Static<typeof DocumentsSection>, pathOf: (path: string) => string) {
  return {
    /** Absolute path of the directory; `undefined`: in the store. */
    folder: raw.keep === 'store' ? undefined : pathOf(raw.keep),
    /** As written: a string, or a reference to the secret. */
    secret: raw.secret,
    keepMs: raw.hours * HOUR_MS,
    /** Of one file. */
    bytesMax: raw.bytes,
    /** Of all files of all teams. */
    storeBytesMax: raw.store_bytes,
    /** Of a file on its way in or out. */
    slowestBytesPerSecond: raw.slowest_bytes_per_second,
  };
}
