// The documents of one process: where they are kept, the steps of their routes, and the worker that translates them.
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { documentsSecret } from '../config/documents-secret.ts';
import type { Environment } from '../config/environment.ts';
import { Exchange } from '../core/exchange.ts';
import type { Sink } from '../core/exchange.ts';
import { compileRoute } from '../core/route.ts';
import type { Step } from '../core/step.ts';
import { ENGINE_UNAVAILABLE } from '../domain/refusals.ts';
import { keyOwnerSlot, NO_STATS, planSlot, requestStatsSlot } from '../domain/slots.ts';
import { isUnavailable, storeErrorOf } from '../domain/store-unavailable.ts';
import { createDocument, holdDocument } from '../endpoints/create-document.ts';
import { deleteDocument, documentResult, showDocument } from '../endpoints/document-endpoints.ts';
import type { DocumentFormats } from '../ports/document-formats.ts';
import type { DocumentRecord, DocumentStore, DocumentTransfers } from '../ports/documents.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';
import type { Store } from '../ports/store.ts';
import type { Forgetful } from '../runtime/forgetting.ts';
import type { DocumentStepName } from '../routes.ts';
import { releaseHolds } from '../runtime/document-holds.ts';
import { LimitedTransfers } from '../runtime/document-transfers.ts';
import { DocumentSealer } from '../runtime/document-sealer.ts';
import { DocumentWorker } from '../runtime/document-worker.ts';
import type { DocumentWorkerOptions } from '../runtime/document-worker.ts';
import { DirectoryOfDocuments } from '../stores/document-folder.ts';
import { RecordDocuments } from '../stores/records/record-documents.ts';
import { takeReservation } from '../steps/admit.ts';
import type { ChainParts } from './chain.ts';
import type { Opened } from './opened.ts';

/** `undefined` everywhere if documents are not configured. */
export interface OpenDocuments {
  readonly documents: DocumentStore;
  readonly formats: DocumentFormats;
  readonly sealer: DocumentSealer;
  readonly transfers: DocumentTransfers;
  /** The store's clock. */
  readonly nowMs: () => number;
}

/** Rejects with a `ConfigError`. */
export async function openDocuments(
  { config, store, nowMs, output: { log }, down }: Opened,
  env: Environment,
): Promise<OpenDocuments | undefined> {
  const secret = documentsSecret(config, env);
  if (config.documents === undefined || secret === undefined) return undefined;
  const { folder } = config.documents;
  const kept = folder === undefined ? undefined : await openFolder(folder);
  // Imported late, because most gateways have no documents.
  const { createDocumentFormats } = await import('../documents/create-document-formats.ts');
  const formats = createDocumentFormats({ onFault: (reason) => log.error('a document could not be read or built', { reason }) });
  down.add('formats of documents', () => formats.close());
  const documents = new RecordDocuments(store.records, nowMs, kept);
  return { documents, formats, sealer: new DocumentSealer(secret), transfers: new LimitedTransfers(), nowMs };
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
  /** There is work. */
  readonly onCreated: () => void;
}

export function stepsOfDocuments(
  { documents: settings }: Config,
  opened: DocumentSteps,
  { store, glossaries, offers, settlements, newId }: ChainParts,
): Readonly<Record<DocumentStepName, Step>> {
  const { keepMs, bytesMax, storeBytesMax } = settings!;
  const upload = {
    ...opened,
    teams: store.teams,
    glossaries,
    offers,
    newId,
    bytesMax,
    storeBytesMax,
    keepMs,
    takeReservation,
  };
  const endpoints = {
    ...opened,
    settlements,
    release: (document: DocumentRecord) => releaseHolds(store.ledger, document, document.holds),
  };
  return {
    'hold-document': holdDocument(upload),
    'create-document': createDocument(upload),
    'show-document': showDocument(endpoints),
    'delete-document': deleteDocument(endpoints),
    'document-result': documentResult(endpoints),
  };
}

export interface StartedDocuments extends Pick<DocumentWorkerOptions, 'log' | 'newId'> {
  readonly store: Store;
  readonly services: GatewayServices;
  /** Requests in flight in this process. */
  readonly inFlight: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** From so many requests in flight on, a document's next part waits; but not for longer than this, so that it is done some time. */
const BUSY = 16;
const WAIT_MS = { step: 20, most: 2000 };
const ROUTE = compileRoute({ method: 'POST', path: '/v1/documents', takesBody: false, steps: [] });

/** Nobody waits for an answer. */
const NOWHERE: Sink = {
  send: () => 'gone',
  stream: () => undefined,
  incoming: () => undefined,
  remoteAddress: () => '',
};

export interface RunningDocuments {
  /** There is work. */
  wake(): void;
  /** Calls to engines are cancelled, and what is not finished is given back. */
  close(): Promise<void>;
}

export function startDocuments({ documents, formats, sealer, nowMs }: OpenDocuments, options: StartedDocuments): RunningDocuments {
  const { store, services, inFlight, now, newId, log } = options;
  const parts = new Set<{ current: Exchange | undefined }>();
  const worker = new DocumentWorker({
    documents,
    formats,
    sealer,
    ledger: store.ledger,
    nowMs,
    newId,
    log,
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
          for (const untilMs = now() + WAIT_MS.most; inFlight() >= BUSY && now() < untilMs && isHeld();) await pause();
          return undefined;
        },
      };
    },
  });
  return {
    wake: () => worker.wake(),
    close() {
      const closed = worker.close();
      for (const { current } of parts) current?.cancel();
      return closed;
    },
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, WAIT_MS.step));
}

/** More characters than a part has: what is missing at its end was spared. */
const COUNTED = 1_000_000_000;

/** A part of a document as a request of its key, which nobody waits for. */
function exchangeFor(document: DocumentRecord, plan: string, { newId, now, store }: StartedDocuments): Exchange {
  const x = new Exchange(newId(), { method: 'POST', path: ROUTE.path, query: '', headers: {} }, NOWHERE, ROUTE, now());
  x.set(keyOwnerSlot, { keyId: document.keyId, teamId: document.teamId, mode: 'live' });
  x.set(planSlot, plan);
  x.set(requestStatsSlot, { ...NO_STATS, characters: COUNTED, canSpare: store.ledger.chargesParts === true });
  return x;
}
