// The documents of one process: where they are stored, the steps of their routes, and their worker.
import { SECOND_MS } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { Exchange, NO_CALLER } from '../core/exchange.ts';
import { CLIENT_CLOSED } from '../core/outcome.ts';
import type { Refusal } from '../core/outcome.ts';
import { compileRoute } from '../core/route.ts';
import { chargeSlot, keyOwnerSlot, NO_STATS, planSlot, requestStatsSlot } from '../domain/slots.ts';
import { ENGINE_UNAVAILABLE } from '../domain/refusals.ts';
import { isUnavailable, storeErrorOf } from '../domain/store-unavailable.ts';
import { abandonDocument, documentSteps, endedDocument, ownDocument, resultStep } from '../endpoints/document-results.ts';
import { collectUpload, holdFor, keepDocument, uploadStep, uploadSteps } from '../endpoints/document-uploads.ts';
import { documentMetrics } from '../ops/metrics/gateway-metrics.ts';
import type { DocumentFormats } from '../ports/document-formats.ts';
import type { DocumentServices, ShownDocument } from '../ports/document-services.ts';
import type { DocumentOptions, DocumentRecord } from '../ports/documents.ts';
import type { DocumentTextsOptions } from '../runtime/document-texts.ts';
import { keyRefusal, removeForCaller } from '../runtime/document-charge.ts';
import { DocumentWatch, letTextsGoFirst, LimitedTransfers } from '../runtime/document-load.ts';
import { DocumentKeys, DocumentSealer } from '../runtime/document-secrets.ts';
import { isTaken, passFile } from '../runtime/file-passing.ts';
import type { FileOrder } from '../runtime/file-passing.ts';
import { DocumentWorker } from '../runtime/document-worker.ts';
import type { Forgetful } from '../runtime/forgetting.ts';
import { DirectoryOfDocuments } from '../stores/document-folder.ts';
import { recordDocuments } from '../stores/records/record-documents.ts';
import { takeReservation } from '../steps/admit.ts';
import type { ChainParts, Chains, EngineUsers } from './chain.ts';
import type { Opened } from './parts.ts';

/** `undefined` everywhere if documents are not configured. */
type OpenDocuments = Awaited<ReturnType<typeof openDocuments>>;

/** Rejects with a `ConfigError`. */
export async function openDocuments({ config, secrets: { documents: secret }, store, nowMs, output: { log }, metrics, down }: Opened) {
  if (config.documents === undefined || secret === undefined) return undefined;
  const { folder } = config.documents;
  const directory = folder === undefined ? undefined : await openFolder(folder);
  // Imported on demand, because most gateways have no documents.
  const { createDocumentFormats } = await import('../documents/create-document-formats.ts');
  const parsers = createDocumentFormats({ onFault: (reason) => log.error('a document could not be read or built', { reason }) });
  down.add('formats of documents', () => parsers.close());
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
    transfers: new LimitedTransfers(),
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
  const { config, store, settlements, engines, client, newId, now } = parts;
  const { settings, meters } = opened;
  const slowest = { ofTeams: settings.slowest_bytes_per_second, ofUnknown: config.limits.slowest_bytes_per_second };
  // What a plugin that changes texts has to see or to hide must not pass it in a file.
  const changes = parts.plugins.textStages.some(({ kind }) => kind === 'change');
  const files = changes ? undefined : { ...use, files: engines.files, formats: opened.formats };
  const own = opened.formats.all.map(({ name }) => name);
  const ofEngines = files === undefined ? [] : config.engines.flatMap(({ name }) => engines.files.formatsOf(name));
  const all = [...new Set([...own, ...ofEngines])].toSorted();
  const removal = { documents: opened.documents, ledger: store.ledger, settlements };
  const options: DocumentOptions = {
    ...opened,
    teams: store.teams,
    glossaries: parts.glossaries,
    plans: () => parts.inForce().plans,
    newId,
    now,
    bytesMax: settings.bytes,
    storeBytesMax: settings.store_bytes,
    slowest,
    client,
    keepMs: settings.hours * HOUR_MS,
    takeReservation,
    endings: () => all,
    isTaken: (x: Exchange, order: FileOrder) => files !== undefined && isTaken(order, x.get(planSlot), files),
    onCreated() {
      meters.uploaded();
      parts.onDocument();
    },
    keyRefusal: (document) => keyRefusal(store.ledger, document),
    remove: (document, unlessTranslated = false) =>
      removeForCaller(document, { ...removal, spares: ({ resultId }) => unlessTranslated && resultId !== undefined }),
  };
  const steps = { ...uploadSteps(options, parts.offers), ...documentSteps(options) };
  return { files, steps, services: servicesFor(options, opened.keys) };
}

/** For the steps of plugins, over the same functions as the gateway's own. */
function servicesFor(options: DocumentOptions, keys: DocumentKeys): DocumentServices {
  return {
    endings: (x) => options.endings(x),
    hold: (x) => holdFor(x, options),
    uploadStep: (step) => uploadStep(options, step),
    collect: (x, bytesMax) => collectUpload(x, bytesMax, options),
    create: async (x, order) => shownOr(await keepDocument(x, order, options)),
    find: async (x, documentId) => shownOr(await ownDocument(x, documentId, options)),
    async ended(x, documentId, withinMs) {
      const ended = await endedDocument(x, documentId, withinMs, options);
      return ended && shownOr(ended);
    },
    async abandon(x, documentId) {
      const left = await abandonDocument(x, documentId, options);
      return left && shown(left);
    },
    resultStep: (step) => resultStep(options, step),
    keyOf: (documentId) => keys.keyOf(documentId),
    linkTo: (document) => keys.linkTo(document),
    linked: (link) => keys.linked(link),
  };
}

/** Plugins see no more of a document than callers may. */
function shown({ documentId, fileName, state, billed, code, detail }: ShownDocument): ShownDocument {
  return { documentId, fileName, state, billed, code, detail };
}

function shownOr(found: ShownDocument | Refusal): ShownDocument | Refusal {
  return 'problem' in found ? found : shown(found);
}

export type RunningDocuments = ReturnType<typeof startDocuments>;

/** `inFlight` are the requests in flight in this process. */
export function startDocuments(opened: NonNullable<OpenDocuments>, parts: ChainParts, chains: Chains, inFlight: () => number) {
  const { documents, formats, sealer, meters, nowMs, settings } = opened;
  const { store, metrics, newId, now } = parts;
  const files = chains.documents?.files;
  const current = new Set<Exchange>();
  const planOf = async (teamId: string): Promise<string | undefined> => {
    // As of now: a plan may be changed while the document waits.
    const team = await store.teams.findTeam(teamId);
    return team === undefined || isUnavailable(team) ? undefined : team.plan;
  };
  const texts = (document: DocumentRecord, isHeld: () => boolean): DocumentTextsOptions => {
    let plan: string | undefined;
    let part: Exchange | undefined;
    const ended = (): void => void (part && current.delete(part));
    return {
      services: chains.services,
      exchange() {
        ended();
        part = exchangeFor(document, plan ?? '', parts);
        current.add(part);
        return part;
      },
      ended,
      sparedBy: (x) => COUNTED - x.need(requestStatsSlot).characters,
      async turn() {
        plan = await planOf(document.teamId);
        if (plan === undefined || !isHeld()) return ENGINE_UNAVAILABLE;
        await letTextsGoFirst(isHeld, { inFlight, now, pause });
        return undefined;
      },
    };
  };
  const worker = new DocumentWorker({
    documents,
    formats,
    sealer,
    ledger: store.ledger,
    nowMs,
    newId,
    log: parts.output.log,
    onEnd(end, document) {
      if (document === undefined) return;
      if (end === 'done') meters.done(document.endedAtMs! - document.createdAtMs);
      else meters.failed(document.code!);
    },
    files:
      files &&
      (async (file) => {
        const plan = await planOf(file.document.teamId);
        return plan === undefined ? ENGINE_UNAVAILABLE : passFile(file, plan, { ...files, requestId: newId() });
      }),
    texts,
  });
  const watch = new DocumentWatch(documents);
  metrics.read('documents_open', () => watch.latest.open);
  metrics.read('documents_at_work', () => worker.running);
  metrics.read('documents_oldest_seconds', () => watch.latest.oldestMs / SECOND_MS);
  metrics.read('document_bytes', () => watch.latest.bytes);
  metrics.read('document_bytes_limit', () => settings.store_bytes);
  return {
    /** There is work. */
    wake: () => worker.wake(),
    /** Calls to engines are cancelled, and unfinished work is given back to other gateways. */
    close() {
      watch.close();
      const closed = worker.close();
      void formats.close();
      for (const x of current) x.cancel(CLIENT_CLOSED);
      return closed;
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

const ROUTE = compileRoute({ method: 'POST', path: '/v1/documents', takesBody: false, steps: [] });

/** More characters than a part has: what is missing at its end was spared. */
const COUNTED = 1_000_000_000;

/** A part of a document as a request of its key, which nobody waits for. */
function exchangeFor(document: DocumentRecord, plan: string, { newId, now }: Pick<ChainParts, 'newId' | 'now'>): Exchange {
  const headers: Record<string, string> = document.traceparent === undefined ? {} : { traceparent: document.traceparent };
  const x = new Exchange(newId(), { method: 'POST', path: ROUTE.path, query: '', headers }, NO_CALLER, ROUTE, now());
  x.set(keyOwnerSlot, { keyId: document.keyId, teamId: document.teamId, mode: 'live' });
  x.set(planSlot, plan);
  const { glossaryId, sourceLang = '', targetLang, glossaryByBase: byBase = false } = document;
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang, targetLang, byBase };
  x.set(chargeSlot, { characters: undefined, reserve: false, glossary, refusal: undefined });
  x.set(requestStatsSlot, { ...NO_STATS, characters: COUNTED, canSpare: true });
  return x;
}
