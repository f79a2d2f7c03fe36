// Metrics of documents: every series exists from the start, and labels have only so many values.
import { expect, test } from 'vitest';
import { openMetrics } from '../../../../src/ops/metrics/metrics.ts';
import type { Metrics } from '../../../../src/ops/metrics/metrics.ts';

async function shown(metrics: Metrics): Promise<Record<string, number>> {
  const lines = (await metrics.render()).split('\n').filter((line) => line.startsWith('lingate_document') && !line.includes('_bucket'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

const total = (outcome: string, code: string): string => `lingate_documents_total{outcome="${outcome}",code="${code}"}`;

test('every series exists from the start, at 0', async () => {
  const metrics = openMetrics();
  metrics.documents(['docx', 'txt']);
  const series = await shown(metrics);
  expect(Object.values(series).every((value) => value === 0)).toBe(true);
  const names = [
    total('uploaded', ''),
    total('done', ''),
    total('error', 'engine_unavailable'),
    total('error', 'other'),
    'lingate_document_files_refused_total{format="docx"}',
    'lingate_document_files_refused_total{format="txt"}',
    'lingate_document_duration_seconds_count',
  ];
  expect(Object.keys(series)).toEqual(expect.arrayContaining(names));
});

test('what happens is counted, and a code that is not ours is “other”', async () => {
  const metrics = openMetrics();
  const meters = metrics.documents(['txt']);
  const load = { open: 3, oldestMs: 1500, bytes: 10, bytesMax: 100, atWork: 2 };
  metrics.documentLoad(() => load);
  for (let i = 0; i < 2; i++) meters.uploaded();
  meters.done(2500);
  for (const code of ['quota_exceeded', 'text_too_long', 'a_plugins_own', 'toString']) meters.failed(code);
  for (const format of ['txt', 'a name']) meters.refused(format);
  expect(await shown(metrics)).toMatchObject({
    [total('uploaded', '')]: 2,
    [total('done', '')]: 1,
    [total('error', 'quota_exceeded')]: 1,
    [total('error', 'text_too_long')]: 1,
    [total('error', 'other')]: 2,
    'lingate_document_files_refused_total{format="txt"}': 1,
    lingate_document_duration_seconds_sum: 2.5,
    lingate_documents_open: 3,
    lingate_documents_at_work: 2,
    lingate_documents_oldest_seconds: 1.5,
    lingate_document_bytes: 10,
    lingate_document_bytes_limit: 100,
  });
  expect(await metrics.render()).not.toContain('a name');
});
