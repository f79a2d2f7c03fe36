// Judges manifests by the schemas of the oldest Kubernetes that the chart is for, and of the Prometheus operator: values by their validators, names of members by their types.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { runProgram } from '../support/start-program.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

type Model = new (manifest: unknown) => { validate(): void };

const COMPILER = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** The documents that `helm template` has printed. Throws if one is not valid YAML, or is nothing. */
export function manifestsIn(text: string): Manifest[] {
  const documents = parseAllDocuments(text);
  const faults = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (faults.length > 0) throw faults[0]!;
  return documents.map((document) => document.toJS() as Manifest);
}

/** The module with a manifest's kind. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const ofOperator = apiVersion.startsWith('monitoring.coreos.com/');
  return `${ofOperator ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`;
}

/** Throws the first fault of a manifest: a missing member, or a value that the schema does not allow. */
export async function expectValid(folder: string, manifest: Manifest): Promise<void> {
  const { load } = (await import(/* @vite-ignore */ pathToFileURL(join(folder, 'load.js')).href)) as {
    load(this: void, name: string): Promise<unknown>;
  };
  const module = moduleOf(manifest);
  const { [manifest.kind]: model } = (await load(module)) as Record<string, Model>;
  if (model === undefined) throw new Error(`${module} has no ${manifest.kind}`);
  new model(manifest).validate();
}

/** What the compiler says of manifests as literals of their types: of each member that there is none of, by name. */
export async function namesFaults(folder: string, manifests: readonly Manifest[]): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'lingate-manifests-'));
  try {
    symlinkSync(join(folder, 'node_modules'), join(place, 'node_modules'));
    const lines = manifests.map((manifest, index) => {
      const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
      return `export const m${index}: ${type} = ${JSON.stringify(manifest)};\n`;
    });
    writeFileSync(join(place, 'typed.ts'), lines.join(''));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--types', '', '--module', 'nodenext', '--pretty', 'false'];
    const { status, stdout, stderr } = await runProgram('node', [COMPILER, ...flags, 'typed.ts'], { cwd: place, msMax: 120_000 });
    return status === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
