// The service of documents for the steps of plugins, over the same functions as the gateway's own endpoints.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { collectUpload, holdFor, keepDocument, uploadStep } from '../endpoints/create-document.ts';
import type { CreateDocumentOptions } from '../endpoints/create-document.ts';
import { findDocument, removeDocument, resultStep } from '../endpoints/document-endpoints.ts';
import type { DocumentEndpointOptions } from '../endpoints/document-endpoints.ts';
import type { DocumentServices, ShownDocument } from '../ports/document-services.ts';
import type { DocumentRecord } from '../ports/documents.ts';
import type { DocumentKeys } from '../runtime/document-keys.ts';

interface DocumentServicesOptions {
  readonly upload: CreateDocumentOptions;
  readonly endpoints: DocumentEndpointOptions;
  readonly keys: DocumentKeys;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** How often a document that somebody waits for is looked at: soon at first, because most are short. */
const LOOK_MS = { first: 50, most: 1000 };

export function documentServices({ upload, endpoints, keys, now }: DocumentServicesOptions): DocumentServices {
  const find = async (x: Exchange, documentId: string): Promise<DocumentRecord | Refusal> =>
    findDocument(x.need(keyOwnerSlot).teamId, documentId, endpoints);
  return {
    bytesMax: upload.bytesMax,
    endings: (x) => upload.endings(x),
    hold: (x) => holdFor(x, upload),
    uploadStep: (step) => uploadStep(upload, step),
    collect: (x, bytesMax) => collectUpload(x, bytesMax, upload),
    create: async (x, order) => shownOr(await keepDocument(x, order, upload)),
    find: async (x, documentId) => shownOr(await find(x, documentId)),
    async ended(x, documentId, withinMs) {
      const untilMs = now() + withinMs;
      for (let pauseMs = LOOK_MS.first; !x.cancelled; pauseMs = Math.min(LOOK_MS.most, pauseMs * 2)) {
        const found = await find(x, documentId);
        if ('problem' in found || found.state === 'done' || found.state === 'error') return shownOr(found);
        const leftMs = untilMs - now();
        if (leftMs <= 0) break;
        await new Promise((resolve) => void setTimeout(resolve, Math.min(pauseMs, leftMs)));
      }
      return undefined;
    },
    async remove(x, documentId) {
      const found = await find(x, documentId);
      return 'problem' in found ? found : removeDocument(found, endpoints);
    },
    resultStep: (step) => resultStep(endpoints, step),
    keyOf: (documentId) => keys.keyOf(documentId),
    linkTo: (document) => keys.linkTo(document),
    linked: (link) => keys.linked(link),
  };
}

function shownOr(found: DocumentRecord | Refusal): ShownDocument | Refusal {
  if ('problem' in found) return found;
  const { documentId, fileName, state, billed, code, detail } = found;
  return { documentId, fileName, state, billed, code, detail };
}
