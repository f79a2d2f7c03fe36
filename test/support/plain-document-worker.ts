// A worker on documents of plain text for tests: no thread reads them, no other work goes first, and nothing is spared.
import type { GatewayServices } from '../../src/ports/gateway-services.ts';
import { DocumentWorker } from './door/gateways.ts';
import { newId } from './door/contracts.ts';
import type { DocumentWorkerOptions } from '../../src/documents/work/document-worker.ts';
import { SILENT } from './silent-log.ts';
import { isUtf8 } from 'node:buffer';
import type { Built, DocumentFormat, DocumentFormats, DocumentText, Extracted } from '../../src/documents/formats.ts';

const TXT: DocumentFormat = { name: 'txt', mediaType: 'text/plain; charset=utf-8' };
const LINE = /(\r\n|\n|\r)/;
const NO_TEXT = 'is no text in UTF-8.';

class LinesOfText implements DocumentFormats {
  readonly all: readonly DocumentFormat[] = [TXT];

  formatOf(fileName: string): DocumentFormat | undefined {
    return fileName.toLowerCase().endsWith('.txt') ? TXT : undefined;
  }

  firstLook(_format: DocumentFormat, bytes: Uint8Array): string | undefined {
    return isUtf8(bytes) ? undefined : NO_TEXT;
  }

  extract(_format: DocumentFormat, bytes: Uint8Array): Promise<Extracted> {
    const texts = linesOf(bytes)
      .filter((line) => line.trim() !== '')
      .map((text): DocumentText => ({ text, format: 'text' }));
    return Promise.resolve({ kind: 'extracted', texts });
  }

  build(_format: DocumentFormat, bytes: Uint8Array, translations: readonly string[]): Promise<Built> {
    let next = 0;
    const lines = linesOf(bytes).map((line) => (line.trim() === '' ? line : translations[next++]!));
    return Promise.resolve({ kind: 'built', bytes: Buffer.from(lines.join('')) });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Lines and their ends, by turns. */
function linesOf(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').split(LINE);
}

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
    formats: new LinesOfText(),
    newId,
    now: () => performance.now(),
    log: SILENT,
    onEnd,
    services: { translate, refusalFor: () => undefined },
    turn: () => Promise.resolve(),
  });
}
