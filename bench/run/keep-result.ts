// Writes results: raw numbers as JSON with the report page; the committed example on request.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CurvesResult } from '../curves/curve.ts';
import { reportPage } from '../report/page.ts';
import type { BenchResult } from './results.ts';

interface Kept {
  readonly bench: BenchResult;
  readonly curves: CurvesResult;
}

const BENCH = new URL('..', import.meta.url);

/** Returns lines that say where they are. */
export function keepResult<Kind extends keyof Kept>(kind: Kind, result: Kept[Kind], asExample: boolean): string[] {
  const results = new URL('results/', BENCH);
  mkdirSync(results, { recursive: true });
  const stamp = result.machine.measuredAt.replaceAll(/[:.]/g, '-');
  const raw = new URL(`${kind}-${stamp}.json`, results);
  const page = new URL('report.html', results);
  const text = `${JSON.stringify(result, undefined, 1)}\n`;
  writeFileSync(raw, text);
  writeFileSync(new URL(`latest-${kind}.json`, results), text);
  writeFileSync(page, pageOf(results, 'latest'));
  const lines = [`raw numbers: ${fileURLToPath(raw)}`, `report: ${fileURLToPath(page)}`];
  if (!asExample) return lines;
  writeFileSync(new URL(`example-${kind}.json`, results), text);
  const example = new URL('report.html', BENCH);
  writeFileSync(example, pageOf(results, 'example'));
  return [...lines, `kept as the example: ${fileURLToPath(example)}`];
}

function read(folder: URL, name: string): unknown {
  const file = new URL(name, folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function pageOf(results: URL, which: 'latest' | 'example'): string {
  const bench = read(results, `${which}-bench.json`) as BenchResult | undefined;
  return reportPage(bench, read(results, `${which}-curves.json`) as CurvesResult | undefined);
}
