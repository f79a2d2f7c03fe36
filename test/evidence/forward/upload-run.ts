// Uploads by curl to a charged forward route, some at once, directly or behind nginx: what came back, and what the gateway's memory did.
import { createCipheriv, createHash } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { startFrontProxy } from '../../support/front-proxy.ts';
import type { Front } from '../../support/front-proxy.ts';
import { outputOf } from '../../support/start-program.ts';

export interface UploadFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface Upload {
  readonly file: UploadFile;
  readonly chunked: boolean;
  /** The upstream rests in between. */
  readonly slow: boolean;
  /** If it is not the one for whole uploads. */
  readonly path?: string;
}

interface UploadRun {
  readonly origin: string;
  readonly key: string;
  readonly uploads: readonly Upload[];
  readonly atOnce: number;
  /** Further arguments of curl. */
  readonly more?: readonly string[];
}

const PIECE_BYTES = 4_194_304;
/** A gigabyte on a busy machine. */
const UPLOAD_MS_MAX = 600_000;

/** Files that no two pieces of which are equal, the shorter ones the beginning of the longer. `sizes` in bytes, rising. */
export async function writeUploadFiles(folder: string, sizes: readonly number[]): Promise<readonly UploadFile[]> {
  const zeros = Buffer.alloc(PIECE_BYTES);
  return Promise.all(
    sizes.map(async (bytes) => {
      const path = join(folder, `upload-${bytes}`);
      const [file, hash] = [createWriteStream(path), createHash('sha256')];
      const cipher = createCipheriv('aes-128-ctr', zeros.subarray(0, 16), zeros.subarray(0, 16));
      for (let left = bytes; left > 0; left -= PIECE_BYTES) {
        const piece = cipher.update(zeros.subarray(0, Math.min(left, PIECE_BYTES)));
        hash.update(piece);
        if (!file.write(piece)) await once(file, 'drain');
      }
      file.end();
      await once(file, 'close');
      return { path, bytes, sha256: hash.digest('hex') };
    }),
  );
}

/** In this order, each file in turn; every third one chunked, every fourth one read slowly. */
export function uploadsOf(files: readonly UploadFile[], count: number): readonly Upload[] {
  return Array.from({ length: count }, (_, i) => ({ file: files[i % files.length]!, chunked: i % 3 === 1, slow: i % 4 === 2 }));
}

/** What is wrong with the answers; empty if every upload arrived whole. */
export async function sendAll({ origin, key, uploads, atOnce, more = [] }: UploadRun): Promise<readonly string[]> {
  const failures: string[] = [];
  const waiting = [...uploads.entries()];
  const sendOn = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [number, { file, chunked, slow, path = `/v1/files/${slow ? 'slow-sink' : 'sink'}` }] = next;
      const framing = chunked ? ['-H', 'Transfer-Encoding: chunked'] : [];
      const sent = ['-sS', '-X', 'POST', '-T', file.path, '-H', `Authorization: Bearer ${key}`, ...framing, ...more];
      const args = [...sent, '-w', ' %{http_code}', `${origin}${path}`];
      const answer = await outputOf('curl', args, { msMax: UPLOAD_MS_MAX }).catch((error: unknown) => String(error));
      const right = `${JSON.stringify({ bytes: file.bytes, sha256: file.sha256 })} 200`;
      const how = `${chunked ? ', chunked' : ''}${slow ? ', slow' : ''}`;
      if (answer !== right) failures.push(`${number}: ${file.bytes} bytes${how}: ${answer.replaceAll(/[\r\n]/g, '')}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendOn));
  return failures;
}

/** nginx that passes bodies on while they arrive. */
export function startNginx(gatewayPort: number): Promise<Front> {
  return startFrontProxy(
    'nginx',
    (port, folder) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 64; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  client_max_body_size 0;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${gatewayPort};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
    }
  }
}
`,
  );
}

/** How much of the process is in memory now, and was at most. */
export function memoryOf(pid: number): { readonly residentBytes: number; readonly peakBytes: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1024;
  return { residentBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') };
}
