// The documents of one process: where they are stored, the steps of their routes, and their worker.
import { setTimeout as delay } from 'node:timers/promises';
import { SECOND_MS } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { storeErrorOf } from '../domain/store-unavailable.ts';
import { documentMetrics } from '../ops/metrics/gateway-metrics.ts';
import type { DocumentFormats } from '../documents/formats.ts';
import type { Refusal } from '../core/outcome.ts';
import type { DocumentServices, ShownDocument } from '../ports/document-services.ts';
import { letTextsGoFirst, limitedTransfers, watchBacklog } from '../documents/work/document-load.ts';
import { DocumentKeys, DocumentSealer } from '../documents/work/document-secrets.ts';
import { passFile } from '../documents/work/file-passing.ts';
import { DocumentResults } from '../documents/work/document-results.ts';
import { DocumentUploads } from '../documents/work/document-uploads.ts';
import { DocumentWorker } from '../documents/work/document-worker.ts';
import type { Forgetful } from '../runtime/forgetting.ts';
import { DirectoryOfDocuments } from '../stores/document-folder.ts';
import { recordDocuments } from '../stores/records/record-documents.ts';
import { takeReservation } from '../steps/admit.ts';
import type { ChainParts, Chains, EngineUsers } from './chain.ts';
import type { Opened, GatewayParts } from './parts.ts';
import { monotonicMs as now } from './until-stopped.ts';

/** `undefined` everywhere if documents are not configured. */
type OpenDocuments = Awaited<ReturnType<typeof openDocuments>>;

/** Rejects with a `ConfigError`. */
export async function openDocuments({ config, secrets: { documents: secret }, store, nowMs, life, metrics }: Opened) {
  if (config.documents === undefined || secret === undefined) return undefined;
  const { folder } = config.documents;
  const directory = folder === undefined ? undefined : await openFolder(folder);
  // Imported on demand, because most gateways have no documents.
  const { createDocumentFormats } = await import('../documents/create-document-formats.ts');
  const parsers = createDocumentFormats({ onFault: (reason) => life.log.error('a document could not be read or built', { reason }) });
  life.closing('formats of documents', parsers);
  const meters = documentMetrics(
    metrics,
    parsers.all.map(({ name }) => name),
  );
  const formats: DocumentFormats = {
    ...parsers,
    async extract(format, bytes) {
      const extracted = await parsers.extract(format, bytes);
      if (extracted.kind === 'refused') meters.refused(format.name);
      return extracted;
    },
  };
  return {
    settings: config.documents,
    documents: recordDocuments(store.records, nowMs, directory),
    formats,
    sealer: new DocumentSealer(secret),
    keys: new DocumentKeys(secret),
    beginTransfer: limitedTransfers(),
    meters,
    nowMs,
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

/** What a deleted team leaves: its documents in the queue, and files in a directory. */
export function forgetfulDocuments({ documents }: NonNullable<OpenDocuments>): Forgetful {
  return {
    plugin: 'documents',
    async forget(teamId) {
      // Without a team, it is about caches.
      const failed = teamId === undefined ? undefined : await documents.forgetTeam(teamId);
      if (failed !== undefined) throw storeErrorOf(failed);
    },
  };
}

/** The steps, and what the worker uses: `files` only if some may pass the gateway unread. */
export type BuiltDocuments = ReturnType<typeof buildDocuments>;

const HOUR_MS = 3_600_000;

export function buildDocuments(opened: NonNullable<OpenDocuments>, parts: ChainParts, use: EngineUsers) {
  const { config, store, engines, client, newId } = parts;
  const { settings, meters, keys } = opened;
  // What a plugin that changes texts has to see or to hide must not pass it in a file.
  const changes = parts.plugins.textStages.some(({ kind }) => kind === 'change');
  const files = changes ? undefined : { ...use, engine: engines, formats: opened.formats };
  const own = opened.formats.all.map(({ name }) => name);
  const ofEngines = files === undefined ? [] : config.engines.flatMap(({ name }) => engines.of(name).formats());
  const endings = [...new Set([...own, ...ofEngines])].toSorted();
  const access = {
    ...opened,
    ledger: store.ledger,
    slowest: { ofTeams: settings.slowest_bytes_per_second, ofUnknown: config.limits.slowest_bytes_per_second },
    keepMs: settings.hours * HOUR_MS,
    now,
  };
  const results = new DocumentResults(access);
  const uploads = new DocumentUploads({
    ...access,
    teams: store.teams,
    glossaries: parts.dictionaries,
    plans: () => parts.inForce().plans,
    bytesMax: settings.bytes,
    storeBytesMax: settings.store_bytes,
    client,
    endings,
    files,
    newId,
    takeReservation,
    onCreated() {
      meters.uploaded();
      parts.onDocument();
    },
  });
  const services: DocumentServices = {
    endings: () => endings,
    hold: (x) => uploads.hold(x),
    uploadStep: (step) => uploads.uploadStep(step),
    collect: (x, bytesMax) => uploads.collect(x, bytesMax),
    create: async (x, order) => shown(await uploads.create(x, order)),
    find: async (x, documentId) => shown(await results.find(x, documentId)),
    ended: async (x, documentId, withinMs) => shown(await results.ended(x, documentId, withinMs)),
    abandon: async (x, documentId) => shown(await results.abandon(x, documentId)),
    resultStep: (step) => results.resultStep(step),
    keyOf: (documentId) => keys.keyOf(documentId),
    linkTo: (document) => keys.linkTo(document),
    linked: (link) => keys.linked(link),
  };
  return { files, steps: { ...uploads.steps(parts.offers), ...results.steps() }, services };
}

/** Plugins see no more of a document than callers may. */
function shown<Found extends ShownDocument | Refusal | undefined>(found: Found): Found | ShownDocument {
  if (found === undefined || 'problem' in found) return found;
  const { documentId, fileName, state, billed, code, detail } = found;
  return { documentId, fileName, state, billed, code, detail };
}

export type RunningDocuments = ReturnType<typeof startDocuments>;

/** `inFlight` are the requests in flight in this process. */
export function startDocuments(opened: NonNullable<OpenDocuments>, parts: GatewayParts, chains: Chains, inFlight: () => number) {
  const { documents, formats, meters, settings } = opened;
  const { store, metrics, newId } = parts;
  const files = chains.documents?.files;
  const worker = new DocumentWorker({
    ...opened,
    ledger: store.ledger,
    teams: store.teams,
    services: chains.services,
    newId,
    now,
    log: parts.life.log,
    onEnd(end, document) {
      if (document === undefined) return;
      if (end === 'done') meters.done(document.endedAtMs! - document.createdAtMs);
      else meters.failed(document.code!);
    },
    files: files && ((file) => passFile(file, { ...files, requestId: newId() })),
    turn: (isLost) => letTextsGoFirst(isLost, { inFlight, now, pause: delay }),
  });
  const backlog = watchBacklog(documents);
  metrics.read('documents_open', () => backlog.latest.open);
  metrics.read('documents_at_work', () => worker.running);
  metrics.read('documents_oldest_seconds', () => backlog.latest.oldestMs / SECOND_MS);
  metrics.read('document_bytes', () => backlog.latest.bytes);
  metrics.read('document_bytes_limit', () => settings.store_bytes);
  return {
    /** There is work. */
    wake: () => worker.wake(),
    /** Calls to engines are cancelled, and unfinished work is given back to other gateways. */
    close() {
      backlog.close();
      const closed = worker.close();
      void formats.close();
      return closed;
    },
  };
}
