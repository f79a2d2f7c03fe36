// A worker on documents of plain text for tests: no thread reads them, no other work goes first, and nothing is spared.
import type { GatewayServices } from '../../src/ports/gateway-services.ts';
import { DocumentWorker } from './door/gateways.ts';
import { newId } from './door/contracts.ts';
import type { DocumentWorkerOptions } from '../../src/documents/work/document-worker.ts';
import { SILENT } from './silent-log.ts';
import { formatsHere } from './documents/formats-here.ts';

export interface PlainDocumentWorkerOptions extends Pick<
  DocumentWorkerOptions,
  'documents' | 'sealer' | 'ledger' | 'teams' | 'nowMs' | 'files'
> {
  /** How engines answer. */
  readonly translate: GatewayServices['translate'];
  readonly onEnd?: DocumentWorkerOptions['onEnd'];
}

export function plainDocumentWorker({ translate, onEnd = () => undefined, ...options }: PlainDocumentWorkerOptions): DocumentWorker {
  return new DocumentWorker({
    ...options,
    formats: formatsHere,
    newId,
    now: () => performance.now(),
    log: SILENT,
    onEnd,
    services: { translate, refusalFor: () => undefined },
    turn: () => Promise.resolve(),
  });
}
