// node bench/report/render.ts: regenerates bench/report.html from the committed example.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { CurvesResult } from '../curves/curve.ts';
import type { BenchResult } from '../run/results.ts';
import { reportPage } from './page.ts';

const results = new URL('../results/', import.meta.url);
const read = (name: string): unknown => {
  const file = new URL(name, results);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
};

const bench = read('example-bench.json') as BenchResult | undefined;
const curves = read('example-curves.json') as CurvesResult | undefined;
writeFileSync(new URL('../report.html', import.meta.url), reportPage(bench, curves));
