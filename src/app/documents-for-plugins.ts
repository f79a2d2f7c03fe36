// The service of documents for the steps of plugins, over the same functions as the gateway's own endpoints.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { collectUpload, holdFor, keepDocument, uploadStep } from '../endpoints/create-document.ts';
import type { CreateDocumentOptions } from '../endpoints/create-document.ts';
import { findDocument, resultStep } from '../endpoints/document-endpoints.ts';
import type { DocumentEndpointOptions } from '../endpoints/document-endpoints.ts';
import type { DocumentServices, ShownDocument } from '../ports/document-services.ts';
import type { DocumentRecord } from '../ports/documents.ts';
import type { DocumentKeys } from '../runtime/document-secrets.ts';

interface DocumentServicesOptions {
  readonly upload: CreateDocumentOptions;
  readonly endpoints: DocumentEndpointOptions;
  readonly keys: DocumentKeys;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** How often a document that somebody waits for is looked at: soon at first, because most are short. */
const LOOK_MS = { first: 50, most: 1000 };
/** Between two attempts to remove a document that nobody waits for any more. */
const ABANDON_MS_MAX = 60_000;
/** How long a charge is waited for. */
const CHARGED_WITHIN_MS = 5000;

export function documentServices({ upload, endpoints, keys, now }: DocumentServicesOptions): DocumentServices {
  const find = async (x: Exchange, documentId: string): Promise<DocumentRecord | Refusal> =>
    findDocument(x.need(keyOwnerSlot).teamId, documentId, endpoints);
  async function ended(x: Exchange, documentId: string, withinMs: number): Promise<ShownDocument | Refusal | undefined> {
    const untilMs = now() + withinMs;
    for (let pauseMs = LOOK_MS.first; !x.cancelled; pauseMs = Math.min(LOOK_MS.most, pauseMs * 2)) {
      const found = await find(x, documentId);
      const isAway = found === STORE_UNAVAILABLE;
      if (!isAway && ('problem' in found || found.state === 'done' || found.state === 'error')) return shownOr(found);
      const leftMs = untilMs - now();
      if (leftMs <= 0) return isAway ? found : undefined;
      await new Promise((resolve) => void setTimeout(resolve, Math.min(pauseMs, leftMs)));
    }
    return undefined;
  }
  return {
    endings: (x) => upload.endings(x),
    hold: (x) => holdFor(x, upload),
    uploadStep: (step) => uploadStep(upload, step),
    collect: (x, bytesMax) => collectUpload(x, bytesMax, upload),
    create: async (x, order) => shownOr(await keepDocument(x, order, upload)),
    find: async (x, documentId) => shownOr(await find(x, documentId)),
    ended,
    async abandon(x, documentId) {
      const { teamId } = x.need(keyOwnerSlot);
      const untilMs = now() + upload.keepMs;
      const first = await abandoned(teamId, documentId, endpoints);
      if (first === 'gone') return undefined;
      if (first === 'translated') {
        const shown = await ended(x, documentId, CHARGED_WITHIN_MS);
        return shown === undefined || 'problem' in shown ? undefined : shown;
      }
      // Nobody waits for it: in the background, until it expires.
      void (async () => {
        for (let pauseMs = LOOK_MS.most; now() < untilMs; pauseMs = Math.min(ABANDON_MS_MAX, pauseMs * 2)) {
          await new Promise((resolve) => void setTimeout(resolve, pauseMs).unref());
          // A bug that is met here is met, and logged, by the worker that removes what has expired.
          if ((await abandoned(teamId, documentId, endpoints).catch(() => 'away')) !== 'away') return;
        }
      })();
      return undefined;
    },
    resultStep: (step) => resultStep(endpoints, step),
    keyOf: (documentId) => keys.keyOf(documentId),
    linkTo: (document) => keys.linkTo(document),
    linked: (link) => keys.linked(link),
  };
}

/** Removes it, unless it is translated. `away`: the store or the ledger is. */
async function abandoned(teamId: string, documentId: string, endpoints: DocumentEndpointOptions): Promise<'gone' | 'translated' | 'away'> {
  const found = await findDocument(teamId, documentId, endpoints);
  if (found === STORE_UNAVAILABLE) return 'away';
  if ('problem' in found) return 'gone';
  const goes = await endpoints.remove(found, true);
  if (isUnavailable(goes)) return 'away';
  return goes ? 'gone' : 'translated';
}

function shownOr(found: DocumentRecord | Refusal): ShownDocument | Refusal {
  if ('problem' in found) return found;
  const { documentId, fileName, state, billed, code, detail } = found;
  return { documentId, fileName, state, billed, code, detail };
}
