// The READMEs name what is there: files and folders, npm scripts, and what stands in the files of "Where do I change X".
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { TASKS } from './task.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const READMES = ['README.md', 'src/README.md', 'config/README.md', 'test/README.md', 'bench/README.md'];
const LINES_MAX = 150;

const { scripts, exports, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Readonly<
  Record<'scripts' | 'exports' | 'dependencies' | 'devDependencies', Readonly<Record<string, unknown>>>
>;
const packages = [...Object.keys(dependencies), ...Object.keys(devDependencies)];
const entries = Object.keys(exports).map((name) => `lingate/${name.slice(2)}`.replace('*', 'NAME'));
/** What running or building makes. */
const made = readFileSync(join(root, '.gitignore'), 'utf8')
  .split('\n')
  .map((line) => line.replaceAll('/', ''));

/** A file with one of our endings, or something with a folder in front; not an address, a field or a path of the API. */
const PATH = /^(?:\.?[\w-]+\/)*(?:[\w-]+\/|[\w-]+(?:\.[\w-]+)*\.(?:ts|js|json|yaml|md|lua|css|html))$|^\.?[\w-]+(?:\/[\w-]+)+$/;

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What stands in backticks, word by word. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].flatMap((match) => match[1]!.split(/[\s"']+/));
}

/** Short names are below a folder that the same line named before. */
function placesOf(line: string, folder: string): { readonly name: string; readonly places: readonly string[] }[] {
  const bases = ['.', folder];
  return quoted(line)
    .filter((word) => PATH.test(word))
    .map((name) => {
      const places = bases.flatMap((base) => [join(base, name), join(base, `${name}.test.ts`)]);
      const found = places.find((place) => existsSync(join(root, place)));
      if (found !== undefined) bases.push(name.endsWith('/') ? found : dirname(found));
      return { name, places: found === undefined ? [] : [found] };
    });
}

function isElsewhere(name: string): boolean {
  if (packages.includes(name) || entries.includes(name) || made.includes(name.replaceAll('/', ''))) return true;
  const [, plugin] = /^lingate\/plugins\/([\w-]+)$/.exec(name) ?? [];
  return plugin !== undefined && existsSync(join(root, 'src/plugins', `${plugin}.ts`));
}

describe.each(READMES)('%s', (readme) => {
  const text = read(readme);
  const lines = text.replaceAll(/^```[\s\S]*?^```$/gm, '').split('\n');

  test('every file and folder that it names is there', () => {
    const named = lines.flatMap((line) => placesOf(line, dirname(readme)));
    expect(named.length).toBeGreaterThan(0);
    const gone = named.filter(({ name, places }) => places.length === 0 && !isElsewhere(name));
    expect(gone.map(({ name }) => name)).toEqual([]);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1]!);
    expect(links.filter((link) => !existsSync(join(root, dirname(readme), link)))).toEqual([]);
  });

  test('every npm script and every task that it names is there', () => {
    const named = [...text.matchAll(/npm (?:run (?:-s |--silent )?([\w:-]+)|(test|start)\b)/g)].map((match) => match[1] ?? match[2]!);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    const tasks = [...text.matchAll(/npm run task -- ([\w:]+)/g)].map((match) => match[1]!);
    expect(tasks.filter((name) => !Object.hasOwn(TASKS, name))).toEqual([]);
  });
});

test('the README at the top is read in ten minutes', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(LINES_MAX);
});

test('what "Where do I change X" names in code stands in a file of its row', () => {
  const table = /^## Where do I change X\n([\s\S]*?)^## /m.exec(read('src/README.md'))![1]!;
  const rows = table.split('\n').filter((line) => line.includes('`'));
  expect(rows.length).toBeGreaterThan(10);
  const wrong = rows.flatMap((row) => {
    const texts = placesOf(row, 'src').flatMap(({ places }) => places.filter((place) => /\.\w+$/.test(place)).map(read));
    const names = quoted(row).filter((word) => /^[a-z]+(?:[A-Z]\w*)?$/.test(word));
    return names.filter((name) => !texts.some((file) => new RegExp(`\\b${name}\\b`).test(file)));
  });
  expect(wrong).toEqual([]);
});
