#!/usr/bin/env node
// The entry: says which Node is needed where this is an older one; runs the sources in a checkout, and what was built of them in a package.
// Its own syntax is that of 2020: an old Node must get as far as the line that it is told. No other Node is looked for: in
// the folder of a checkout, or of a project with `npm install node@22`, npm and npx put the right one first by themselves.
import { existsSync, readFileSync } from 'fs';
import process from 'process';

/** As `engines` in package.json says. */
const least = /(\d+)\.(\d+)\.(\d+)/.exec(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node);

if (isOlder(process.versions.node.split('.').map(Number), least.slice(1).map(Number))) {
  process.stderr.write(
    'lingate: needs Node ' +
      least[0] +
      ' or newer, and this is ' +
      process.versions.node +
      '; install a newer one, or run "npm install node@' +
      least[1] +
      '" here, and npx will use it.\n',
  );
  process.exitCode = 1;
} else {
  const sources = new URL('main.ts', import.meta.url);
  void import(existsSync(sources) ? sources.href : new URL('../dist/main.js', import.meta.url).href);
}

function isOlder(parts, than) {
  for (let index = 0; index < than.length; index++) {
    if (parts[index] !== than[index]) return parts[index] < than[index];
  }
  return false;
}
