#!/usr/bin/env node
// The entry: on an unsupported Node it prints one line that says what to do; otherwise it runs the sources in a checkout, and the
// compiled files in a package. Written in the syntax of 2020, so that an old Node can parse it and print that line. It searches for
// no other Node: npm scripts do (`with-node.sh`), and in a project with `npm install node@24` npx puts that one first.
import { existsSync } from 'fs';
import { isSupported, WANTED } from './supported-node.js';

const sources = new URL('main.ts', import.meta.url);
const isCheckout = existsSync(sources);

if (isSupported(process.versions.node)) {
  silenceExpectedWarnings();
  void (isCheckout ? import('./checkout.js').then(() => import(sources.href)) : import(new URL('../dist/main.js', import.meta.url).href));
} else {
  process.stderr.write(
    'lingate: needs Node ' +
      WANTED +
      ', and this is ' +
      process.versions.node +
      '; ' +
      (isCheckout
        ? 'run "npm ci" here, which brings one, and then "npm run -s lingate --" in place of "node src/lingate.js".\n'
        : 'install one of these, for example with "npm install --global node@24".\n'),
  );
  process.exitCode = 1;
}

/** Hides the experimental warnings of `node:sqlite` and of type stripping, which our tests cover; shows all others. */
function silenceExpectedWarnings() {
  const emit = process.emitWarning.bind(process);
  process.emitWarning = (warning, kind, ...more) => {
    if (kind === 'ExperimentalWarning' && /^(?:SQLite|stripTypeScriptTypes) /.test(String(warning))) return;
    emit(warning, kind, ...more);
  };
}
