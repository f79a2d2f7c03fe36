// The documents of one process: where they are kept, the steps of their routes, and the worker that translates them.
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { documentsSecret } from '../config/secrets.ts';
import type { Environment } from '../config/environment.ts';
import { Exchange } from '../core/exchange.ts';
import type { Sink } from '../core/exchange.ts';
import { CLIENT_CLOSED } from '../core/outcome.ts';
import { compileRoute } from '../core/route.ts';
import type { Step } from '../core/step.ts';
import { chargeSlot, keyOwnerSlot, NO_STATS, planSlot, requestStatsSlot } from '../domain/slots.ts';
import { ENGINE_UNAVAILABLE } from '../domain/refusals.ts';
import { isUnavailable, storeErrorOf } from '../domain/store-unavailable.ts';
import { createDocument, holdDocument } from '../endpoints/create-document.ts';
import { deleteDocument, documentResult, showDocument } from '../endpoints/document-endpoints.ts';
import { documentMetrics } from '../ops/metrics/document-metrics.ts';
import type { DocumentMetrics } from '../ops/metrics/document-metrics.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { DocumentFormats } from '../ports/document-formats.ts';
import type { DocumentServices } from '../ports/document-services.ts';
import type { DocumentRecord, DocumentStore, DocumentTransfers, DueDocument } from '../ports/documents.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';
import type { Store } from '../ports/store.ts';
import type { Forgetful } from '../runtime/forgetting.ts';
import type { DocumentStepName } from '../routes.ts';
import { keyRefusal, removeForCaller } from '../runtime/document-charge.ts';
import { DocumentWatch, letTextsGoFirst, LimitedTransfers } from '../runtime/document-load.ts';
import { DocumentKeys, DocumentSealer } from '../runtime/document-secrets.ts';
import { isTaken, passFile } from '../runtime/file-passing.ts';
import type { FileOrder, FilePassingOptions } from '../runtime/file-passing.ts';
import { DocumentWorker } from '../runtime/document-worker.ts';
import type { DocumentWorkerOptions } from '../runtime/document-worker.ts';
import { DirectoryOfDocuments } from '../stores/document-folder.ts';
import { RecordDocuments } from '../stores/records/record-documents.ts';
import { takeReservation } from '../steps/admit.ts';
import type { ChainParts } from './chain.ts';
import { documentServices } from './documents-for-plugins.ts';
import type { Opened } from './parts.ts';

/** `undefined` everywhere if documents are not configured. */
export interface OpenDocuments {
  readonly documents: DocumentStore;
  readonly formats: DocumentFormats;
  readonly sealer: DocumentSealer;
  readonly keys: DocumentKeys;
  readonly transfers: DocumentTransfers;
  readonly meters: DocumentMetrics;
  /** The store's clock. */
  readonly nowMs: () => number;
}

/** Rejects with a `ConfigError`. */
export async function openDocuments(
  { config, store, nowMs, output: { log }, metrics, down }: Opened,
  env: Environment,
): Promise<OpenDocuments | undefined> {
  const secret = documentsSecret(config, env);
  if (config.documents === undefined || secret === undefined) return undefined;
  const { folder } = config.documents;
  const kept = folder === undefined ? undefined : await openFolder(folder);
  // Imported late, because most gateways have no documents.
  const { createDocumentFormats } = await import('../documents/create-document-formats.ts');
  const parsers = createDocumentFormats({ onFault: (reason) => log.error('a document could not be read or built', { reason }) });
  down.add('formats of documents', () => parsers.close());
  const meters = documentMetrics(
    metrics,
    parsers.all.map(({ name }) => name),
  );
  const formats = countingRefusals(parsers, meters);
  const documents = new RecordDocuments(store.records, nowMs, kept);
  return {
    documents,
    formats,
    sealer: new DocumentSealer(secret),
    keys: new DocumentKeys(secret),
    transfers: new LimitedTransfers(),
    meters,
    nowMs,
  };
}

function countingRefusals(formats: DocumentFormats, meters: DocumentMetrics): DocumentFormats {
  return {
    all: formats.all,
    formatOf: (fileName) => formats.formatOf(fileName),
    firstLook: (format, bytes) => formats.firstLook(format, bytes),
    async extract(format, bytes) {
      const extracted = await formats.extract(format, bytes);
      if (extracted.kind === 'refused') meters.refused(format.name);
      return extracted;
    },
    build: (format, bytes, translations, targetLang) => formats.build(format, bytes, translations, targetLang),
    close: () => formats.close(),
  };
}

async function openFolder(path: string): Promise<DirectoryOfDocuments> {
  try {
    return await DirectoryOfDocuments.open(path);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ConfigError([`documents.keep: the directory ${path} cannot be written (${why}); make it writable for the gateway`]);
  }
}

/** What a deleted team leaves: its places in the queue, and files in a directory. */
export function forgetfulDocuments({ documents }: OpenDocuments): Forgetful {
  return {
    plugin: 'documents',
    async forget(teamId) {
      // Without a team, caches are meant.
      const failed = teamId === undefined ? undefined : await documents.forgetTeam(teamId);
      if (failed !== undefined) throw storeErrorOf(failed);
    },
  };
}

/** What the steps of documents need beyond the other steps. */
export interface DocumentSteps extends OpenDocuments {
  readonly plans: () => Config['plans'];
  /** `undefined` if no file may pass the gateway unread. */
  readonly files: FilePassingOptions | undefined;
  /** There is work. */
  readonly onCreated: () => void;
}

/** None if a plugin changes texts: what it has to see or to hide must not pass it in a file. */
export function filePassing(
  { engines, caps, plugins }: Pick<Opened, 'engines' | 'caps' | 'plugins'>,
  { formats }: Pick<OpenDocuments, 'formats'>,
  watching: Pick<FilePassingOptions, 'offers' | 'onFailures' | 'passTraceparent'>,
): FilePassingOptions | undefined {
  if (plugins.textStages.some(({ kind }) => kind === 'change')) return undefined;
  return { ...watching, files: engines.files, formats, isSpent: caps.isEmpty ? undefined : (engine) => caps.isSpent(engine) };
}

const HOUR_MS = 3_600_000;

export interface BuiltDocuments {
  readonly steps: Readonly<Record<DocumentStepName, Step>>;
  readonly services: DocumentServices;
}

export function buildDocuments(
  config: Config,
  opened: DocumentSteps,
  { store, settlements, glossaries, offers, client, newId, now }: ChainParts,
): BuiltDocuments {
  const { documents: settings, engines, limits } = config;
  const { hours, bytes, store_bytes: storeBytesMax, slowest_bytes_per_second: ofTeams } = settings!;
  const slowest = { ofTeams, ofUnknown: limits.slowest_bytes_per_second };
  const { files } = opened;
  const own = opened.formats.all.map(({ name }) => name);
  const all = [...new Set([...own, ...engines.flatMap(({ name }) => files?.files.formatsOf(name) ?? [])])].toSorted();
  const upload = {
    ...opened,
    teams: store.teams,
    glossaries,
    offers,
    newId,
    bytesMax: bytes,
    storeBytesMax,
    slowest,
    client,
    keepMs: hours * HOUR_MS,
    takeReservation,
    endings: () => all,
    isTaken: (x: Exchange, order: FileOrder) => files !== undefined && isTaken(order, x.get(planSlot), files),
    onCreated() {
      opened.meters.uploaded();
      opened.onCreated();
    },
  };
  const removal = { documents: opened.documents, ledger: store.ledger, settlements };
  const endpoints = {
    ...opened,
    slowest,
    remove: (document: DueDocument, unlessTranslated = false) =>
      removeForCaller(document, { ...removal, spares: ({ resultId }) => unlessTranslated && resultId !== undefined }),
    keyRefusal: (document: DocumentRecord) => keyRefusal(store.ledger, document),
  };
  return {
    steps: {
      'hold-document': holdDocument(upload),
      'create-document': createDocument(upload),
      'show-document': showDocument(endpoints),
      'delete-document': deleteDocument(endpoints),
      'document-result': documentResult(endpoints),
    },
    services: documentServices({ upload, endpoints, keys: opened.keys, now }),
  };
}

interface StartedDocuments extends Pick<DocumentWorkerOptions, 'log' | 'newId'> {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly config: Pick<Config, 'documents'>;
  readonly services: GatewayServices;
  /** `undefined` if no file may pass the gateway unread. */
  readonly files: FilePassingOptions | undefined;
  /** Requests in flight in this process. */
  readonly inFlight: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

const ROUTE = compileRoute({ method: 'POST', path: '/v1/documents', takesBody: false, steps: [] });

/** Nobody waits for an answer. */
const NOWHERE: Sink = {
  send: () => 'gone',
  stream: () => undefined,
  incoming: () => undefined,
  remoteAddress: () => '',
  receivedBytes: 0,
};

export interface RunningDocuments {
  /** There is work. */
  wake(): void;
  /** Calls to engines are cancelled, and what is not finished is given back. */
  close(): Promise<void>;
}

export function startDocuments({ documents, formats, sealer, meters, nowMs }: OpenDocuments, options: StartedDocuments): RunningDocuments {
  const { store, services, inFlight, now, newId, log, metrics } = options;
  const { files } = options;
  const parts = new Set<{ current: Exchange | undefined }>();
  const worker = new DocumentWorker({
    documents,
    formats,
    sealer,
    ledger: store.ledger,
    nowMs,
    newId,
    log,
    onEnd(end, document) {
      if (document === undefined) return;
      if (end === 'done') meters.done(document.endedAtMs! - document.createdAtMs);
      else meters.failed(document.code!);
    },
    files:
      files &&
      (async (file) => {
        const team = await store.teams.findTeam(file.document.teamId);
        if (team === undefined || isUnavailable(team)) return ENGINE_UNAVAILABLE;
        return passFile(file, team.plan, { ...files, requestId: newId() });
      }),
    texts(document, isHeld) {
      let plan = '';
      const part: { current: Exchange | undefined } = { current: undefined };
      parts.add(part);
      return {
        services,
        exchange: () => (part.current = exchangeFor(document, plan, options)),
        ended: () => void parts.delete(part),
        sparedBy: (x) => COUNTED - x.need(requestStatsSlot).characters,
        async turn() {
          // As of now: a plan may be changed while the document waits.
          const team = await store.teams.findTeam(document.teamId);
          if (team === undefined || isUnavailable(team) || !isHeld()) return ENGINE_UNAVAILABLE;
          plan = team.plan;
          await letTextsGoFirst(isHeld, { inFlight, now, pause });
          return undefined;
        },
      };
    },
  });
  const watch = new DocumentWatch(documents);
  metrics.read('documents_open', () => watch.latest.open);
  metrics.read('documents_at_work', () => worker.running);
  metrics.read('documents_oldest_seconds', () => watch.latest.oldestMs / SECOND_MS);
  metrics.read('document_bytes', () => watch.latest.bytes);
  metrics.read('document_bytes_limit', () => options.config.documents!.store_bytes);
  return {
    wake: () => worker.wake(),
    close() {
      watch.close();
      const closed = worker.close();
      // What it was reading is given back: another gateway reads it again.
      void formats.close();
      for (const { current } of parts) current?.cancel(CLIENT_CLOSED);
      return closed;
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** More characters than a part has: what is missing at its end was spared. */
const COUNTED = 1_000_000_000;

/** A part of a document as a request of its key, which nobody waits for. */
function exchangeFor(document: DocumentRecord, plan: string, { newId, now }: StartedDocuments): Exchange {
  const headers: Record<string, string> = document.traceparent === undefined ? {} : { traceparent: document.traceparent };
  const x = new Exchange(newId(), { method: 'POST', path: ROUTE.path, query: '', headers }, NOWHERE, ROUTE, now());
  x.set(keyOwnerSlot, { keyId: document.keyId, teamId: document.teamId, mode: 'live' });
  x.set(planSlot, plan);
  const { glossaryId, sourceLang = '', targetLang, glossaryByBase: byBase = false } = document;
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang, targetLang, byBase };
  x.set(chargeSlot, { characters: undefined, reserve: false, glossary, refusal: undefined });
  x.set(requestStatsSlot, { ...NO_STATS, characters: COUNTED, canSpare: true });
  return x;
}
