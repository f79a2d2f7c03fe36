// The rules of the layout: which room may import which, one home per third-party package, no cycles, a first sentence in every file.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** Which rooms of `src` a room may import; single files are at the top. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  domain: ['core'],
  ports: ['core', 'domain'],
  // The rules of metering, pure: what is stored and what time it is are arguments.
  ledger: ['domain', 'ports'],
  steps: ['core', 'domain', 'ports'],
  endpoints: ['core', 'domain', 'ports'],
  runtime: ['core', 'domain', 'ports'],
  stores: ['core', 'domain', 'ledger', 'ports'],
  engines: ['core', 'domain', 'ports'],
  forward: ['core', 'domain', 'ports'],
  server: ['core'],
  ops: ['core', 'domain', 'ports', 'docs'],
  telemetry: ['core', 'domain', 'ports'],
  documents: ['core', 'domain', 'ports'],
  docs: ['core', 'domain', 'ports'],
  demo: ['engines/protocols/json-call.ts'],
  config: ['core', 'domain', 'ports'],
  app: [
    'core',
    'domain',
    'ports',
    'steps',
    'endpoints',
    'runtime',
    'stores',
    'engines',
    'forward',
    'server',
    'ops',
    'telemetry',
    'documents',
    'docs',
    'demo',
    'config',
    'admin',
    'console',
    'routes.ts',
  ],
  // Of the stores only what opens them: commands on teams and keys must not load the whole gateway.
  admin: ['core', 'domain', 'ports', 'docs/openapi-writer.ts', 'ops/ops-listener.ts', 'config/faults.ts', 'config/nearest.ts'],
  console: ['core', 'domain', 'ports', 'admin', 'docs/html.ts', 'docs/engine-advice.ts', 'ops/ops-listener.ts'],
  cli: ['app', 'admin', 'config', 'ports', 'domain', 'stores/open.ts'],
  'routes.ts': ['core', 'domain/scopes.ts'],
  'main.ts': ['cli'],
  'release.ts': ['bill-of-materials.ts'],
  'bill-of-materials.ts': [],
  'image-bill.ts': ['bill-of-materials.ts'],
  'manual.ts': ['admin/admin-routes.ts', 'config', 'docs', 'engines', 'ops/metrics/table.ts', 'plugins'],
  'testing.ts': ['testing'],
  // Protocols are tested along the path that they take in the gateway, whole stores by what the commands do with them.
  testing: [
    'core',
    'domain',
    'ports',
    'engines',
    'stores/records/copy-mark.ts',
    'stores/records/event-record.ts',
    'stores/records/record-refusals.ts',
    'stores/store-check.ts',
    'stores/whole-copy.ts',
    'stores/whole-store.ts',
  ],
  // What a plugin's store has once it has a record space.
  'index.ts': [
    'core',
    'domain',
    'ledger',
    'ports',
    'stores/records/event-record.ts',
    'stores/records/record-glossaries.ts',
    'stores/records/team-registry.ts',
    'stores/records/over-records.ts',
    'stores/records/record-audit.ts',
    'stores/records/record-tags.ts',
    'stores/records/usage-rows.ts',
  ],
  // Only what any author can import: no internals.
  plugins: ['index.ts'],
};

/** Links of one chain never import each other, nor do the adapters of one port. */
const SIBLINGS_APART = ['steps', 'endpoints', 'stores/redis', 'stores/sqlite'];

/** Each third-party package (and node:sqlite) has one home. */
const HOMES: Readonly<Record<string, string | readonly string[]>> = {
  'uWebSockets.js': 'server/uws-build.ts',
  // Plugins bring their own packages. Those that we ship use ours, without sharing connections or caches with the gateway.
  ioredis: ['stores/redis/', 'plugins/memory/'],
  'node:sqlite': 'stores/sqlite/',
  'lru-cache': ['runtime/', 'plugins/facades/', 'plugins/memory/'],
  yaml: 'config/',
  'prom-client': 'ops/',
  // Markup in texts of DeepL's API, and documents.
  parse5: 'documents/',
  saxes: ['plugins/deepl-v2/', 'documents/'],
  '@opentelemetry/api': 'telemetry/',
  '@opentelemetry/exporter-trace-otlp-proto': 'telemetry/',
  '@opentelemetry/resources': 'telemetry/',
  '@opentelemetry/sdk-trace': 'telemetry/',
  ulid: ['domain/', 'plugins/deepl-v2/'],
  'http-proxy-3': 'forward/upstream.ts',
  // Types besides the one import, which happens only if a provider is configured.
  'openid-client': ['console/oidc-provider.ts'],
  'typebox/system': 'domain/typebox.ts',
  'typebox/value': 'domain/typebox.ts',
};

/** What users, vitest or programs in containers import from here. */
const PUBLIC =
  /^(?:src\/(?:index|testing)\.ts|src\/plugins\/[^/]+\.ts|config\/examples\/.+|test\/package\/pack-once\.ts|test\/kubernetes\/tools\/.+)$/;

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const imports = files.flatMap((file) => importsOf(file));

function importsOf(file: string): Import[] {
  const text = readFileSync(join(source, file), 'utf8');
  const pattern = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|import\('([^']+)'\)/g;
  return [...text.matchAll(pattern)].map((match) => {
    const specifier = match[2] ?? match[3] ?? '';
    return { from: file, to: targetOf(file, specifier), typeOnly: match[1] !== undefined };
  });
}

/** A file of ours, or the name of a package. */
function targetOf(file: string, specifier: string): string {
  if (specifier === 'lingate') return 'index.ts';
  return specifier.startsWith('.') ? relative(source, join(source, dirname(file), specifier)) : specifier;
}

function roomOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path;
}

function mayImport(from: string, to: string): boolean {
  const allowed = MAY_IMPORT[roomOf(from)] ?? [];
  return allowed.includes(roomOf(to)) || allowed.includes(to);
}

const own = imports.filter((entry) => files.includes(entry.to));

describe('the architecture', () => {
  test('the rules are checked against real imports', () => {
    expect(own.length).toBeGreaterThan(50);
    expect(imports.every((entry) => !entry.to.startsWith('.'))).toBe(true);
  });

  test('rooms import only what they may', () => {
    const wrong = own.filter(({ from, to }) => roomOf(from) !== roomOf(to) && !mayImport(from, to));
    expect(wrong).toEqual([]);
  });

  test('steps, endpoints and stores never import each other; steps share what is asked about a caller, stores what is written over their record spaces', () => {
    const wrong = own.filter(({ from, to }) => {
      const folder = SIBLINGS_APART.find((name) => from.startsWith(`${name}/`));
      if (folder === undefined) return false;
      if (to === 'steps/caller.ts') return folder === 'endpoints';
      if (folder === 'steps' || folder === 'endpoints') return to.startsWith('steps/') || to.startsWith('endpoints/');
      return to.startsWith('stores/') && !to.startsWith(`${folder}/`) && !to.startsWith('stores/records/');
    });
    expect(wrong).toEqual([]);
  });

  test('ports hold types only', () => {
    const wrong = files.filter((file) => {
      if (!file.startsWith('ports/')) return false;
      return /^export (?:const|function|class|let)/m.test(readFileSync(join(source, file), 'utf8'));
    });
    expect(wrong).toEqual([]);
  });

  test('each third-party package has one home', () => {
    const wrong = imports.filter(({ from, to }) => HOMES[to] !== undefined && ![HOMES[to]].flat().some((home) => from.startsWith(home)));
    expect(wrong).toEqual([]);
  });

  test('only what package.json lists as a dependency is imported', () => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'optionalDependencies',
      Record<string, string>
    >;
    const packages = imports.map(({ to }) => to).filter((to) => !to.endsWith('.ts') && !to.startsWith('node:'));
    const names = new Set(
      packages.map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
    );
    expect([...names].filter((name) => (dependencies[name] ?? optionalDependencies[name]) === undefined)).toEqual([]);
  });

  test('every room has a line in src/README.md, and every line has a room', () => {
    const rows = [...readFileSync(join(source, 'README.md'), 'utf8').matchAll(/^\| `([\w-]+)\/` \| (.+) \|$/gm)].map((match) => match[1]!);
    const rooms = [...new Set(files.map((file) => roomOf(file)))].filter((room) => !room.endsWith('.ts'));
    expect(rows.toSorted()).toEqual(rooms.toSorted());
    expect(rooms.filter((room) => MAY_IMPORT[room] === undefined)).toEqual([]);
  });

  test('there are no import cycles between rooms, not even of types', () => {
    const between = own
      .filter(({ from, to }) => roomOf(from) !== roomOf(to))
      .map((edge) => ({ ...edge, from: roomOf(edge.from), to: roomOf(edge.to) }));
    const rooms = [...new Set(between.map(({ from }) => from))];
    expect(rooms.filter((room) => reaches(between, room, room))).toEqual([]);
  });

  test('there are no import cycles between files', () => {
    const values = own.filter((entry) => !entry.typeOnly);
    expect(files.filter((file) => reaches(values, file, file))).toEqual([]);
  });

  test('file names are unique in a room', () => {
    const all = readdirSync(source, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((entry) => entry.isFile());
    const names = all.map(({ name, parentPath }) => `${relative(source, parentPath).split('/', 1)[0]}/${name}`);
    expect([...new Set(names.filter((name, index) => names.indexOf(name) !== index))]).toEqual([]);
  });

  test('no file declares a type with the name of one that another file exports', () => {
    const declared = files.flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8');
      const found = [...text.matchAll(/^(export )?(?:abstract )?(?:interface|type|class) (\w+)/gm)];
      return found.map(([, exported, name]) => ({ file, name, isExported: exported !== undefined }));
    });
    const shared = Map.groupBy(declared, ({ name }) => name).values();
    expect(declared.length).toBeGreaterThan(500);
    expect([...shared].filter((all) => all.length > 1 && all.some(({ isExported }) => isExported))).toEqual([]);
  });

  test('every file begins with a sentence about its job', () => {
    const wrong = files.filter((file) => !/^(?:#![^\n]+\n)?\/\/ \S/.test(readFileSync(join(source, file), 'utf8')));
    expect(wrong).toEqual([]);
  });
});

describe('exports', () => {
  const folders = ['src', 'test', 'bench', 'config/examples'];
  const modules = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|js)$/.test(name))
      .map((name) => parsed(join(folder, name))),
  );

  function parsed(file: string) {
    const text = readFileSync(join(root, file), 'utf8');
    const { module, errors } = parseSync(file, text);
    expect(errors, file).toEqual([]);
    const fileOf = (specifier: string): string => (specifier === 'lingate' ? 'src/index.ts' : join(dirname(file), specifier));
    const imported = module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName: { kind, name } }) => `${fileOf(moduleRequest.value)} ${kind === 'Default' ? 'default' : (name ?? '*')}`),
    );
    const exported = module.staticExports.flatMap(({ entries }) => entries);
    const passedOn = exported.flatMap(({ moduleRequest, importName }) =>
      moduleRequest === null ? [] : [`${fileOf(moduleRequest.value)} ${importName.name ?? '*'}`],
    );
    // Of types as well. Which names are taken from it, only the compiler could say.
    const wholly = [...text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g)].map(([, specifier]) => `${fileOf(specifier!)} *`);
    const names = exported.flatMap(({ exportName: { kind, name } }) => (kind === 'Name' ? [name!] : []));
    return { file, names, uses: [...imported, ...passedOn, ...wholly] };
  }

  test('what only one file uses is not exported', () => {
    const used = new Set(modules.flatMap(({ uses }) => uses));
    const unused = modules.flatMap(({ file, names }) =>
      PUBLIC.test(file) || used.has(`${file} *`) ? [] : names.map((name) => `${file} ${name}`).filter((entry) => !used.has(entry)),
    );
    expect(used.size).toBeGreaterThan(3_000);
    expect(unused).toEqual([]);
  });
});

describe('tests at the boundary', () => {
  /** HTTP, command line and ports hold the behaviour still while the inside of `src` moves. */
  const FOLDERS = ['journey', 'evidence', 'http', 'load', 'long', 'support'];
  const DOOR = 'test/support/door/';
  const OPEN_TO_ALL = ['src/index.ts', 'src/testing.ts'];
  /** What still takes values from the inside, and why. This list may only become shorter. */
  const REACHES_IN: Readonly<Record<string, string>> = {
    'test/evidence/simulation/': 'puts a gateway together from its parts, to choose the order in which they go on',
  };
  const reaching = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, 'test', folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join('test', folder, name))
      .filter((file) => !file.startsWith(DOOR) && valuesOfSource(file).length > 0),
  );

  function valuesOfSource(file: string): string[] {
    const imported = readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export) (?!type\b)[^'";]*'(\.[^']+)';/gm);
    return [...imported]
      .map(([, specifier]) => join(dirname(file), specifier!))
      .filter((target) => target.startsWith('src/') && !OPEN_TO_ALL.includes(target));
  }

  test('take values from src only by its public modules and the door', () => {
    const excused = Object.keys(REACHES_IN);
    expect(reaching.filter((file) => !excused.some((path) => file.startsWith(path)))).toEqual([]);
    expect(excused.filter((path) => !reaching.some((file) => file.startsWith(path)))).toEqual([]);
    expect(readdirSync(join(root, DOOR)).length).toBeLessThanOrEqual(5);
  });
});

// A judge that shares its rules with what it judges agrees with every mistake in them.
test('the reference store and the auditor have nothing but types of the product, and nothing that has more', () => {
  const folders = ['reference', 'auditor'].map((name) => join(root, 'test/support', name));
  const judges = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const values = judges.flatMap((file) => {
    const { module } = parseSync(file, readFileSync(file, 'utf8'));
    return module.staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map(({ moduleRequest }) => ({ file: relative(root, file), from: moduleRequest.value }));
  });
  expect(judges.length).toBeGreaterThan(5);
  expect(values.filter(({ from }) => !from.startsWith('node:') && !/^\.(?:\/|\.\/reference\/)[\w-]+\.ts$/.test(from))).toEqual([]);
});

// The imported `expect` knows the test that began last. When that one ends, a poll in another one fails.
test('tests that run concurrently poll with the `expect` of their own context', () => {
  const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  const polling = tests.flatMap((file) => {
    const text = readFileSync(join(root, 'test', file), 'utf8');
    return /\b(?:test|describe)\.concurrent\b/.test(text) && text.includes('expect.poll(') ? [{ file, text }] : [];
  });
  expect(polling.length).toBeGreaterThan(3);
  expect(polling.filter(({ text }) => /import \{[^}]*\bexpect\b[^}]*\} from 'vitest'/.test(text)).map(({ file }) => file)).toEqual([]);
});

// Without a limit of their own they give up after a second, which a busy machine may need for anything.
test('what waits by `vi` says for how long; `expect.poll` has the limit of the configuration', () => {
  const sources = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const waits = sources.flatMap((file) =>
    [...readFileSync(join(root, 'test', file), 'utf8').matchAll(/\bvi\.wait(?:For|Until)\(([^;]*);/g)].map(([, said]) => ({
      file,
      said: said!,
    })),
  );
  expect(waits.length).toBeGreaterThan(3);
  expect(waits.filter(({ said }) => !/\d{2}_000\b|timeout:/.test(said))).toEqual([]);
});

function reaches(edges: readonly Import[], from: string, goal: string): boolean {
  const seen = new Set<string>();
  const open = edges.filter((edge) => edge.from === from).map((edge) => edge.to);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === goal) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    for (const edge of edges) if (edge.from === next) open.push(edge.to);
  }
  return false;
}
