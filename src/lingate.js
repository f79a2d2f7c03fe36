#!/usr/bin/env node
// The entry: refuses an older Node with a line that says what to do; runs the sources in a checkout, the built files in a package.
// Written in the syntax of 2020, so that an old Node can parse it and print that line. It looks for no other Node: in the
// folder of a checkout, or of a project with `npm install node@22`, npm and npx put the right one first by themselves.
import { existsSync, readFileSync } from 'fs';
import process from 'process';

/** As `engines` in package.json says. */
const least = /(\d+)\.(\d+)\.(\d+)/.exec(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node);

const sources = new URL('main.ts', import.meta.url);
const isCheckout = existsSync(sources);

if (isOlder(process.versions.node.split('.').map(Number), least.slice(1).map(Number))) {
  process.stderr.write(
    'lingate: needs Node ' +
      least[0] +
      ' or newer, and this is ' +
      process.versions.node +
      '; ' +
      (isCheckout
        ? 'run "npm ci" here, which brings one, and then "npm run -s lingate --" in place of "node src/lingate.js".\n'
        : 'install a newer one, or run "npm install node@' + least[1] + '" here, and npx will use it.\n'),
  );
  process.exitCode = 1;
} else {
  void import(isCheckout ? sources.href : new URL('../dist/main.js', import.meta.url).href);
}

function isOlder(parts, than) {
  for (let index = 0; index < than.length; index++) {
    if (parts[index] !== than[index]) return parts[index] < than[index];
  }
  return false;
}
