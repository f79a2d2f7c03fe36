// Judges manifests by the schemas of one version of Kubernetes, and of the operators' own kinds: values by their validators, names of members by their types.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { runProgram } from '../support/start-program.ts';
import { VERSIONS } from './chart-tools.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

type Model = new (manifest: unknown) => { validate(): void };

const COMPILER = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
/** Kinds of operators, by the package that has them; all others are Kubernetes' own. */
const OPERATORS: Readonly<Record<string, string>> = {
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator',
  'gateway.networking.k8s.io/v1': '@kubernetes-models/gateway-api',
};

/** The documents that `helm template` has printed. Throws if one is not valid YAML, or is nothing. */
export function manifestsIn(text: string): Manifest[] {
  const documents = parseAllDocuments(text);
  const faults = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (faults.length > 0) throw faults[0]!;
  return documents.map((document) => document.toJS() as Manifest);
}

/** The module with a manifest's kind, in the packages of that version. */
function moduleOf(version: string, { apiVersion, kind }: Manifest): string {
  return `${OPERATORS[apiVersion] ?? `kubernetes-${version}`}/${apiVersion}/${kind}`;
}

/** Throws the first fault of a manifest in each version: a missing member, or a value that the version's schema does not allow. */
export async function expectValid(folder: string, manifest: Manifest): Promise<void> {
  const { load } = (await import(/* @vite-ignore */ pathToFileURL(join(folder, 'load.js')).href)) as {
    load(this: void, name: string): Promise<unknown>;
  };
  for (const version of VERSIONS) {
    const module = moduleOf(version, manifest);
    const { [manifest.kind]: model } = (await load(module)) as Record<string, Model>;
    if (model === undefined) throw new Error(`${module} has no ${manifest.kind}`);
    try {
      new model(manifest).validate();
    } catch (error) {
      throw new Error(`${manifest.kind} of Kubernetes ${version}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
}

/** What the compiler says of manifests as literals of the versions' types: of each member that no version has, by name. */
export async function namesFaults(folder: string, manifests: readonly Manifest[]): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'lingate-manifests-'));
  try {
    symlinkSync(join(folder, 'node_modules'), join(place, 'node_modules'));
    mkdirSync(join(place, 'typed'));
    const files = VERSIONS.map((version) => {
      const file = join(place, 'typed', `kubernetes-${version}.ts`);
      const lines = manifests.map((manifest, index) => {
        const type = `import('${moduleOf(version, manifest)}').I${manifest.kind}`;
        return `export const m${index}: ${type} = ${JSON.stringify(manifest)};`;
      });
      writeFileSync(file, `${lines.join('\n')}\n`);
      return file;
    });
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--types', '', '--module', 'nodenext', '--pretty', 'false'];
    const { status, stdout, stderr } = await runProgram('node', [COMPILER, ...flags, ...files], { cwd: place, msMax: 120_000 });
    return status === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
