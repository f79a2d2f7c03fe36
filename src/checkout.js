// Runs the sources of a checkout: keeps the JavaScript that Node makes of them in node_modules/.cache, because stripping the types of all
// files takes longer than most commands. Only the owner of node_modules writes there, and only that user's files are read. Others, such as
// the user of the image, run what was kept for them; where nothing was kept, types are stripped each time.
import { hash } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

const SOURCES = new URL('.', import.meta.url).href;
const MODULES = new URL('../node_modules/', import.meta.url);
/** By release of Node, because each strips types in its own way. */
const CACHE = new URL(`.cache/lingate/${process.version}/`, MODULES);
const WRITABLE_BY_OTHERS = 0o022;
/** `undefined` without node_modules. */
const OWNER = tried(() => statSync(MODULES).uid);
/** False after the first file that could not be written. */
let isWritable = true;

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(SOURCES) || !url.endsWith('.ts')) return next(url, context);
    return { format: 'module', source: javaScriptOf(url), shortCircuit: true };
  },
});

/** Keeps the JavaScript of every source, for users who may only read it. Throws if it cannot be kept. */
export function keepAll() {
  const sources = readdirSync(new URL(SOURCES), { recursive: true }).filter((path) => path.endsWith('.ts'));
  for (const path of sources) javaScriptOf(new URL(path, SOURCES).href);
  if (!isWritable) throw new Error(`cannot write ${CACHE.pathname}`);
}

function javaScriptOf(url) {
  const source = readFileSync(new URL(url), 'utf8');
  const file = new URL(url.slice(SOURCES.length).replaceAll('/', '+'), CACHE);
  const kept = tried(() => readKept(file));
  if (kept !== undefined && isMadeOf(source, kept)) return kept;
  const made = stripTypeScriptTypes(source);
  if (isWritable) isWritable = tried(() => keep(file, made + markOf(source, made))) ?? false;
  return made;
}

/** Only what the owner of node_modules wrote, because it is run: some set-ups let everybody write to node_modules/.cache. */
function readKept(file) {
  const opened = openSync(file, 'r');
  try {
    const { uid, mode } = fstatSync(opened);
    return uid === OWNER && (mode & WRITABLE_BY_OTHERS) === 0 ? readFileSync(opened, 'utf8') : undefined;
  } finally {
    closeSync(opened);
  }
}

/** The last line of a kept file: it is of this source, complete and undamaged. */
function markOf(source, made) {
  return `\n//${hash('sha256', `${source}\0${made}`)}`;
}

function isMadeOf(source, kept) {
  const end = kept.lastIndexOf('\n');
  return end >= 0 && kept.slice(end) === markOf(source, kept.slice(0, end));
}

/** Written beside it and renamed, because other processes may be reading and writing it. Returns whether it may be written. */
function keep(file, text) {
  if (OWNER === undefined || OWNER !== process.getuid?.()) return false;
  mkdirSync(CACHE, { recursive: true });
  const draft = new URL(`${file.href}.${process.pid}`);
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o644 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return true;
}

/** `undefined` for a file that cannot be read or written. */
function tried(use) {
  try {
    return use();
  } catch {
    return undefined;
  }
}
