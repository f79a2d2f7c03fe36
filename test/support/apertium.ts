// Starts the real Apertium APY (Debian: apertium-apy, apertium-eng-spa) on a free port.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startProgram } from './start-program.ts';

interface Apertium {
  readonly url: string;
  stop(): Promise<void>;
}

const MODES = '/usr/share/apertium/modes';
const DICTIONARIES = '/usr/share/apertium/apertium-eng-spa';
const NAMES = '/usr/share/apertium-apy/langNames.db';

/** Resolves when it answers `/listPairs`. It translates between English and Spanish and detects either. */
export async function startApertium(): Promise<Apertium> {
  const port = await freePort();
  const analysers = await analyserModes();
  const remove = (): Promise<void> => rm(analysers, { recursive: true, force: true });
  const url = `http://127.0.0.1:${port}`;
  try {
    const program = await startProgram('apertium-apy', [MODES, '-s', analysers, '-p', String(port), '-l', NAMES], {
      env: { ...process.env, LANG: 'C.UTF-8' },
      ready: () => answers(`${url}/listPairs`),
    });
    return { url, stop: () => program.end().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The pairs are packaged without analyser modes, which APY needs to detect a language; their dictionaries are enough to make them. */
async function analyserModes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-apertium-'));
  await mkdir(join(folder, 'modes'));
  await writeFile(join(folder, 'modes', 'eng-morph.mode'), `lt-proc '${DICTIONARIES}/eng-spa.automorf.bin'\n`);
  await writeFile(join(folder, 'modes', 'spa-morph.mode'), `lt-proc '${DICTIONARIES}/spa-eng.automorf.bin'\n`);
  return folder;
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.arrayBuffer().then(() => response.ok),
    () => false,
  );
}
