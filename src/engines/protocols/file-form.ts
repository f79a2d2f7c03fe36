// A file in a call to an engine, what an engine says to it, and what its own file may be.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineCall, EngineResponse, FileWork, ReplicaWire } from '../../ports/engine.ts';
import type { CallResult } from './json-call.ts';

/** Twice as long as any file that callers may send. */
export const FILE_BYTES_MAX = 64 * 1_048_576;
const PIECE_BYTES = 65_536;

/** `undefined` fields are left out. The name is only its ending: names are the callers'. */
export function fileCall(
  path: string,
  { fileName, bytes }: FileWork,
  fields: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>> = {},
): EngineCall {
  const boundary = randomBytes(16).toString('hex');
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value!}\r\n`);
  const name = `document${fileName.slice(fileName.lastIndexOf('.')).toLowerCase()}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const pieces: Uint8Array[] = [Buffer.from(parts.join('') + head)];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES));
  pieces.push(Buffer.from(`\r\n--${boundary}--\r\n`));
  return {
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: undefined,
    pieces,
  };
}

/** An engine refuses a file by these: too long, of no format it takes, or broken. */
const REFUSAL_STATUSES: readonly number[] = [400, 413, 415, 422];

export function refusesFile({ status }: EngineResponse): boolean {
  return REFUSAL_STATUSES.includes(status);
}

const AGAIN_MS = 250;

/** About a file that the engine has: made again if it fails, so that it is not billed again. */
export async function callAgain(wire: ReplicaWire, call: EngineCall): Promise<CallResult> {
  const first = await wire.call(call);
  if (typeof first !== 'string' && first.status === 200) return first;
  await delay(AGAIN_MS, undefined, { ref: false });
  return wire.call(call);
}
