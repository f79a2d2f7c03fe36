// Receivers of events: the manual's example, unchanged, and one with scripted answers.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './compile-cache.ts';
import { freePort } from './free-port.ts';
import { codeBlocks, manualSection } from './manual.ts';
import { startProgram } from './start-program.ts';

/** The secret that signs the events of tests. */
export const EVENTS_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

export interface ManualReceiver {
  readonly url: string;
  /** What it has printed: a line for each event, `type subject data`. */
  lines(): readonly string[];
  /** Kills it. */
  end(): Promise<void>;
}

export async function startManualReceiver(): Promise<ManualReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-receiver-'));
  const [example] = codeBlocks(manualSection('events', 'Receiving'), 'js');
  writeFileSync(join(folder, 'receiver.mjs'), example!);
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  const own = await freePort();
  const url = `http://127.0.0.1:${own}/`;
  let output = '';
  const answers = (): Promise<boolean> =>
    fetch(url, { method: 'POST', body: '{}' }).then(
      ({ status }) => status === 401,
      () => false,
    );
  const program = await startProgram('node', ['receiver.mjs'], {
    cwd: folder,
    env: { ...bareEnvironment(), EVENTS_SECRET, PORT: String(own) },
    ready: answers,
  });
  program.child.stdout?.on('data', (piece: Buffer) => (output += String(piece)));
  return {
    url,
    lines: () => output.split('\n').filter((line) => line !== ''),
    async end() {
      await program.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An event as it arrived. */
interface Received {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ScriptedReceiver {
  readonly url: string;
  readonly port: number;
  /** Every request, in order of arrival. */
  readonly received: readonly Received[];
  /** Sets the answer from now on; without one, requests hang. */
  answer(how: (received: Received, response: http.ServerResponse) => void): void;
  close(): Promise<void>;
}

export async function startScriptedReceiver(port = 0): Promise<ScriptedReceiver> {
  const received: Received[] = [];
  let answer: (received: Received, response: http.ServerResponse) => void = (_event, response) => void response.writeHead(204).end();
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => undefined);
    request.on('end', () => {
      const event = JSON.parse(String(Buffer.concat(pieces))) as Received;
      received.push(event);
      answer(event, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/`,
    port: address.port,
    received,
    answer: (how) => (answer = how),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
