// `npm run task -- test:office [--files N]`: LibreOffice opens generated documents whose texts were replaced, and documents that it
// has saved itself; in what it then shows, every text is the translation. It also opens exported tables.
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { unzipSync } from 'fflate';
import { formatsHere as formats } from '../support/documents/formats-here.ts';
import { openTextSample, sheetSample, slidesSample, wordSample } from '../support/documents/office-samples.ts';
import { upperCase } from '../support/documents/random-texts.ts';
import { runProgram } from '../support/start-program.ts';
import { exportedTables } from './exported-tables.ts';

/** What LibreOffice makes of each to show what it has understood. */
const KINDS = [
  { ending: 'docx', sample: wordSample, shown: 'odt' },
  { ending: 'xlsx', sample: sheetSample, shown: 'ods' },
  { ending: 'pptx', sample: slidesSample, shown: 'odp' },
  { ending: 'odt', sample: openTextSample, shown: 'odt' },
] as const;
type Kind = (typeof KINDS)[number];

const CONVERT_MS_MAX = 1_800_000;

const { values } = parseArgs({ options: { files: { type: 'string', default: '200' } } });
const files = Number(values.files);
const folder = await mkdtemp(join(tmpdir(), 'lingate-office-'));
const faults: string[] = [];
try {
  const wrong = await exportedTables(folder, converted);
  faults.push(...wrong);
  process.stdout.write(`exported tables: ${wrong.length} faults\n`);
  for (const kind of KINDS) {
    for (const by of ['us', 'LibreOffice'] as const) process.stdout.write(`${kind.ending} made by ${by}: ${await judged(kind, by)}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
for (const fault of faults.slice(0, 20)) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function judged(kind: Kind, by: 'us' | 'LibreOffice'): Promise<string> {
  const [made, translated, shown] = await Promise.all(
    ['made', 'translated', 'shown'].map((name) => madeFolder(join(folder, `${kind.ending}-${by}`, name))),
  );
  const before = faults.length;
  for (let seed = 1; seed <= files; seed++) await writeFile(join(made!, `${seed}.${kind.ending}`), kind.sample(seed).bytes);
  const source = by === 'us' ? made! : await converted(made!, kind.ending, `${made!}-saved`);
  const texts = new Map<string, readonly string[]>();
  for (const name of await readdir(source)) texts.set(name, await translate(kind, join(source, name), join(translated!, name)));
  await converted(translated!, kind.shown, shown!);
  let count = 0;
  for (const [name, expected] of texts) {
    count += expected.length;
    const file = join(shown!, name.replace(kind.ending, kind.shown));
    const fault = await readFile(file).then(
      (bytes) => faultIn(bytes, expected),
      () => 'LibreOffice did not open it',
    );
    if (fault !== undefined) faults.push(`${kind.ending} made by ${by}, ${name}: ${fault}`);
  }
  return `${texts.size} of ${files} files, ${count} texts, ${faults.length - before} faults`;
}

async function madeFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  return path;
}

/** Replaces its texts, and returns their numbers. */
async function translate(kind: Kind, from: string, to: string): Promise<readonly string[]> {
  const format = formats.formatOf(from)!;
  const bytes = await readFile(from);
  const found = await formats.extract(format, bytes);
  if (found.kind === 'refused') {
    faults.push(`${kind.ending} ${from}: ${found.reason}`);
    return [];
  }
  const same = await formats.build(
    format,
    bytes,
    found.texts.map(({ text }) => text),
  );
  if (same.kind === 'refused' || !bytes.equals(same.bytes)) faults.push(`${from}: not the same with its own texts`);
  const built = await formats.build(format, bytes, found.texts.map(upperCase));
  if (built.kind === 'built') await writeFile(to, built.bytes);
  return numbersIn(found.texts.map(({ text }) => text).join(' '), /text\d+/g);
}

/** Into another folder, with another ending. */
async function converted(from: string, ending: string, to: string): Promise<string> {
  const names = (await readdir(from)).map((name) => join(from, name));
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  for (let at = 0; at < names.length; at += 50) {
    const batch = names.slice(at, at + 50);
    await runProgram('soffice', [profile, '--headless', '--convert-to', ending, '--outdir', to, ...batch], { msMax: CONVERT_MS_MAX });
  }
  return to;
}

function faultIn(bytes: Uint8Array, expected: readonly string[]): string | undefined {
  const parts = unzipSync(bytes);
  const shown = ['content.xml', 'styles.xml'].map((name) => Buffer.from(parts[name] ?? []).toString()).join(' ');
  const capitals = new Set(numbersIn(shown, /TEXT\d+/g).map((text) => text.toLowerCase()));
  const left = numbersIn(shown, /\btext\d+/g).filter((text) => expected.includes(text));
  if (left.length > 0) return `not translated: ${left.slice(0, 3).join(' ')}`;
  // A string that no cell shows is not opened: the first one of each sheet.
  const missing = expected.filter((text) => !capitals.has(text) && text !== 'text1' && text !== 'text2');
  return missing.length === 0 ? undefined : `missing: ${missing.slice(0, 3).join(' ')}`;
}

function numbersIn(text: string, pattern: RegExp): string[] {
  return [...new Set(text.match(pattern))];
}
