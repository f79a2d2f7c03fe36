// What documents count in one process: how many came and how they ended, how long that took, what is open now, the bytes stored.
import { problems } from '../../core/problem.ts';
import type { CounterSeries, Metrics } from './metrics.ts';

/** Codes of a plugin's own are counted together, so that there are only so many series. */
const OTHER = 'other';
/** What documents usually end with: their series are present from the start. */
const CODES = [
  'validation_error',
  'quota_exceeded',
  'credit_exhausted',
  'key_revoked',
  'unauthorized',
  'forbidden',
  'engine_unavailable',
  'service_unavailable',
  'internal_error',
  OTHER,
];

/** `formats`: the names of all formats. */
export function documentMetrics(metrics: Metrics, formats: readonly string[]) {
  const ended = (outcome: string, code: string): CounterSeries => metrics.counter('documents_total', { outcome, code });
  const [uploaded, done] = [ended('uploaded', ''), ended('done', '')];
  const failed = new Map(CODES.map((code) => [code, ended('error', code)]));
  const duration = metrics.histogram('document_duration_seconds');
  const refused = new Map(formats.map((format) => [format, metrics.counter('document_files_refused_total', { format })]));
  return {
    uploaded: (): void => void uploaded.count++,
    /** Translated, so long after the upload. */
    done(tookMs: number): void {
      done.count++;
      duration.observeMs(tookMs);
    },
    /** With the document's problem code. */
    failed(code: string): void {
      const name = Object.hasOwn(problems, code) ? code : OTHER;
      const series = failed.get(name) ?? ended('error', name);
      failed.set(name, series);
      series.count++;
    },
    /** A file that its format's parser refused. */
    refused(format: string): void {
      const series = refused.get(format);
      if (series !== undefined) series.count++;
    },
  };
}
