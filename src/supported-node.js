// Which versions of Node are supported, by `engines` in package.json. Run as a program, prints the Node for npm scripts: this
// machine's own if it is supported, otherwise the one given as an argument. In the syntax of 2020, like `lingate.js`.
import { existsSync, readFileSync, realpathSync } from 'fs';
import { fileURLToPath } from 'url';

/** `^22.22.2 || ^24.15.0 || >=26.0.0`: each major version from its first supported release on, or everything from one on. */
const LINES = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  .engines.node.split(' || ')
  .map((range) => ({ line: range.startsWith('^'), least: numbersOf(range.replace(/^\D+/, '')) }));

/** For people: `22 (from 22.22.2), 24 (from 24.15.0), or 26 and newer`. */
export const REQUIRED = LINES.map(({ line, least }) => least[0] + (line ? ' (from ' + least.join('.') + ')' : ' and newer'))
  .join(', ')
  .replace(/, ([^,]*)$/, ', or $1');

export function isSupported(version) {
  const numbers = numbersOf(version);
  return LINES.some(({ line, least }) => (!line || numbers[0] === least[0]) && !isOlder(numbers, least));
}

function numbersOf(version) {
  return version.split(/[.-]/, 3).map(Number);
}

function isOlder(numbers, than) {
  for (let index = 0; index < than.length; index++) {
    if (numbers[index] !== than[index]) return numbers[index] < than[index];
  }
  return false;
}

// Compares real paths, because a folder may be a link.
if (process.argv[1] !== undefined && existsSync(process.argv[1]) && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const other = process.argv[2];
  process.stdout.write(isSupported(process.versions.node) || !existsSync(other) ? process.execPath : other);
}
