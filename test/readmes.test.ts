// The READMEs and the manual's pages name only what exists: files, folders, headings, npm scripts, commands.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { commandsOf } from '../src/cli/commands.ts';
import { MANUAL_PAGES } from './support/manual.ts';
import { TASKS } from './task.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const READMES = ['README.md', 'src/README.md', 'config/README.md', 'test/README.md', 'bench/README.md'];
/** Pages to search, beside the READMEs. */
const SEARCHED = ['src/DECISIONS.md'];
/** For visitors of the repository. */
const REPOSITORY = ['.github/CONTRIBUTING.md', '.github/SECURITY.md'];
/** Ten minutes, at 250 words a minute. */
const TEN_MINUTES_WORDS = 2500;
const LINES_MAX = 150;
const PAGE_LINES_MAX = 249;

const { scripts, exports, dependencies, optionalDependencies, devDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Readonly<
  Record<'scripts' | 'exports' | 'dependencies' | 'optionalDependencies' | 'devDependencies', Readonly<Record<string, unknown>>>
>;
const packages = [dependencies, optionalDependencies, devDependencies].flatMap((listed) => Object.keys(listed));
const entries = Object.keys(exports).map((name) => `lingate/${name.slice(2)}`.replace('*', 'NAME'));
/** What running or building creates. */
const made = readFileSync(join(root, '.gitignore'), 'utf8')
  .split('\n')
  .map((line) => line.replaceAll('/', ''));

/** A file name with one of our extensions, or a path with a folder; not an address, a field or a path of the API. */
const PATH = /^(?:\.?[\w-]+\/)*(?:[\w-]+\/|[\w-]+(?:\.[\w-]+)*\.(?:ts|js|json|yaml|md|lua|css|html))$|^\.?[\w-]+(?:\/[\w-]+)+$/;

const COMMAND_NAMES: ReadonlySet<string> = new Set((await commandsOf()).map(({ name }) => name));

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The words in backticks. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].flatMap((match) => match[1]!.split(/[\s"']+/));
}

/** Short names are relative to a folder that the same line named before. */
function namedFiles(line: string, folder: string): { readonly name: string; readonly files: readonly string[] }[] {
  const bases = ['.', folder, dirname(folder)];
  return quoted(line)
    .filter((word) => PATH.test(word))
    .map((name) => {
      const files = bases.flatMap((base) => [join(base, name), join(base, `${name}.test.ts`)]);
      const found = files.find((place) => existsSync(join(root, place)));
      if (found !== undefined) bases.push(name.endsWith('/') ? found : dirname(found));
      return { name, files: found === undefined ? [] : [found] };
    });
}

/** The anchors of the headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Links to files or headings that do not exist. */
function deadLinks(path: string): string[] {
  const links = [...read(path).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
  const dead = links.filter(([, file, anchor]) => {
    const target = file === '' ? path : join(dirname(path), file!);
    return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(read(target)).includes(anchor));
  });
  return dead.map(([link]) => link);
}

function isElsewhere(name: string): boolean {
  if (packages.includes(name) || entries.includes(name) || made.includes(name.replaceAll('/', ''))) return true;
  if (/^text\/(?:html|plain)$/.test(name)) return true;
  const [, plugin] = /^lingate\/plugins\/([\w-]+)$/.exec(name) ?? [];
  return plugin !== undefined && existsSync(join(root, 'src/plugins', `${plugin}.ts`));
}

describe.each([...READMES, ...SEARCHED, ...MANUAL_PAGES, ...REPOSITORY])('%s', (readme) => {
  const text = read(readme);
  const lines = text.replaceAll(/^```[\s\S]*?^```$/gm, '').split('\n');

  test('every file and folder that it names exists', () => {
    const named = lines.flatMap((line) => namedFiles(line, dirname(readme)));
    if (READMES.includes(readme)) expect(named.length).toBeGreaterThan(0);
    const gone = named.filter(({ name, files }) => files.length === 0 && !isElsewhere(name));
    expect(gone.map(({ name }) => name)).toEqual([]);
    expect(deadLinks(readme)).toEqual([]);
  });

  test('every npm script and every task that it names exists', () => {
    const named = [...text.matchAll(/npm (?:run (?:-s |--silent )?([\w:-]+)|(test|start)\b)/g)].map((match) => match[1] ?? match[2]!);
    if (READMES.includes(readme)) expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    const tasks = [...text.matchAll(/npm run task -- ([\w:]+)/g)].map((match) => match[1]!);
    expect(tasks.filter((name) => !Object.hasOwn(TASKS, name))).toEqual([]);
  });

  test('every lingate command that it shows exists', () => {
    const shown = [...text.matchAll(/(?:^|`|-- |\| )lingate ([a-z]+)(?: ([a-z]+))?/gm)];
    const wrong = shown.filter(([, word, next]) => !COMMAND_NAMES.has(word!) && !COMMAND_NAMES.has(`${word} ${next}`));
    expect(wrong.map(([line]) => line)).toEqual([]);
  });
});

describe('the operator’s manual', () => {
  test('has short pages, and a map with links to each', () => {
    const map = read('config/README.md');
    expect(MANUAL_PAGES.length).toBeGreaterThan(10);
    for (const page of [...MANUAL_PAGES, 'config/README.md']) {
      expect([page, read(page).trimEnd().split('\n').length <= PAGE_LINES_MAX]).toEqual([page, true]);
    }
    const led = new Set([...map.matchAll(/^\| .+ \| \[[\w-]+\.md\]\((manual\/[\w-]+\.md)\)/gm)].map((match) => `config/${match[1]!}`));
    expect([...led].toSorted()).toEqual(MANUAL_PAGES);
  });

  test('names the first word of every command in its map', () => {
    const table = /^## Commands\n([\s\S]*?)^## /m.exec(read('config/README.md'))![1]!;
    const named = [...table.matchAll(/`(\w+)`/g)].map((match) => match[1]!);
    expect(named.toSorted()).toEqual([...new Set([...COMMAND_NAMES].map((name) => name.split(' ', 1)[0]!))].toSorted());
  });
});

test('the top README is short', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(LINES_MAX);
});

test('the source README is read in ten minutes', () => {
  expect(read('src/README.md').split(/\s+/).length).toBeLessThanOrEqual(TEN_MINUTES_WORDS);
});
