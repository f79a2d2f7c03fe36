#!/usr/bin/env node
// The entry: on an unsupported Node it prints one line that says what to do; otherwise it runs the compiled files in `dist/`, which
// `npm ci` makes in a checkout. Written in the syntax of 2020, so that an old Node can parse it and print that line. It searches for
// no other Node: npm scripts do (`with-node.sh`), and in a project with `npm install node@24` npx puts that one first.
import { existsSync } from 'fs';
import { isSupported, REQUIRED } from './supported-node.js';

const compiled = new URL('../dist/main.js', import.meta.url);

if (!isSupported(process.versions.node)) {
  refuse('needs Node ' + REQUIRED + ', and this is ' + process.versions.node + '; ' + otherNode());
} else if (!existsSync(compiled)) {
  refuse('the compiled files in dist/ are missing; run "npm ci" here, with development dependencies, or "npm run build".');
} else {
  silenceExpectedWarnings();
  void import(compiled.href);
}

function otherNode() {
  return existsSync(new URL('main.ts', import.meta.url))
    ? 'run "npm ci" here, which brings one, and then "npm run -s lingate --" in place of "node src/lingate.js".'
    : 'install one of these, for example with "npm install --global node@24".';
}

function refuse(reason) {
  process.stderr.write('lingate: ' + reason + '\n');
  process.exitCode = 1;
}

/** Hides the experimental warnings of `node:sqlite` and of stripping plugins' types, which our tests cover; shows all others. */
function silenceExpectedWarnings() {
  const emit = process.emitWarning.bind(process);
  process.emitWarning = (warning, kind, ...more) => {
    if (kind === 'ExperimentalWarning' && /^(?:SQLite|stripTypeScriptTypes) /.test(String(warning))) return;
    emit(warning, kind, ...more);
  };
}
