// Metrics of documents: how many came and how they ended, how long that took, what is open now, and the bytes that are kept.
import type { Registry } from 'prom-client';
import { problems } from '../../core/problem.ts';
import { FastCounter, FastHistogram } from './fast-series.ts';
import type { CounterSeries } from './fast-series.ts';
import { registerGauge } from './scraped-series.ts';

/** What there is of documents when metrics are read. */
export interface DocumentLoad {
  /** Of all teams, by the store. */
  readonly open: number;
  /** How long ago the first of the open ones was uploaded. */
  readonly oldestMs: number;
  readonly bytes: number;
  /** The most bytes, by the configuration. */
  readonly bytesMax: number;
  /** Documents that this process works on. */
  readonly atWork: number;
}

/** Counts what happens to documents in one process. */
export interface DocumentMeters {
  uploaded(): void;
  /** Translated, so long after the upload. */
  done(tookMs: number): void;
  /** `code`: the document's problem code. */
  failed(code: string): void;
  /** A file that its format's parser refused. `format` must be one of a fixed set. */
  refused(format: string): void;
}

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
const SECONDS_PER_MS = 0.001;
const BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** `formats`: the names of all formats. */
export function registerDocumentSeries(registry: Registry, formats: readonly string[]): DocumentMeters {
  const ends = new FastCounter(
    registry,
    'lingate_documents_total',
    ['outcome', 'code'],
    'Documents by outcome (uploaded, done, error) and code.',
  );
  const refusedFiles = new FastCounter(
    registry,
    'lingate_document_files_refused_total',
    ['format'],
    'Files that the parser of their format refused after the upload.',
  );
  const duration = new FastHistogram(
    registry,
    'lingate_document_duration_seconds',
    [],
    BUCKETS,
    'From the upload of a document until it is translated.',
  ).series({});
  const uploaded = ends.series({ outcome: 'uploaded', code: '' });
  const done = ends.series({ outcome: 'done', code: '' });
  const failed = new Map<string, CounterSeries>();
  const errorsBy = (code: string): CounterSeries => {
    const name = Object.hasOwn(problems, code) ? code : OTHER;
    const series = failed.get(name) ?? ends.series({ outcome: 'error', code: name });
    failed.set(name, series);
    return series;
  };
  for (const code of CODES) errorsBy(code);
  const refused = new Map(formats.map((format) => [format, refusedFiles.series({ format })]));
  return {
    uploaded: () => void uploaded.pending++,
    done(tookMs) {
      done.pending++;
      duration.observe(tookMs * SECONDS_PER_MS);
    },
    failed: (code) => void errorsBy(code).pending++,
    refused(format) {
      const series = refused.get(format);
      if (series !== undefined) series.pending++;
    },
  };
}

export function registerDocumentGauges(registry: Registry, read: () => DocumentLoad): void {
  const gauge = (name: string, help: string, aggregator: 'max' | 'sum', of: (load: DocumentLoad) => number): void =>
    registerGauge(registry, { name, help, aggregator }, [], () => [[{}, of(read())]]);
  // What the store says is the same in every process.
  gauge('lingate_documents_open', 'Documents of all teams that are queued or in translation.', 'max', ({ open }) => open);
  gauge('lingate_documents_at_work', 'Documents in translation by this gateway.', 'sum', ({ atWork }) => atWork);
  gauge(
    'lingate_documents_oldest_seconds',
    'Age of the oldest open document; 0 without one.',
    'max',
    ({ oldestMs }) => oldestMs * SECONDS_PER_MS,
  );
  gauge('lingate_document_bytes', 'Bytes of all files of documents.', 'max', ({ bytes }) => bytes);
  gauge('lingate_document_bytes_limit', 'The most bytes of all files (documents.store_bytes).', 'max', ({ bytesMax }) => bytesMax);
}
