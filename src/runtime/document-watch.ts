// What there is of all teams' documents, for metrics: read from the store every few seconds, because a scrape does not wait for it.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { DocumentBacklog, DocumentStore } from '../ports/documents.ts';

const EVERY_MS = 5000;

export class DocumentWatch {
  readonly #documents: Pick<DocumentStore, 'backlog'>;
  readonly #looks: NodeJS.Timeout;
  #latest: DocumentBacklog = { open: 0, oldestMs: 0, bytes: 0 };

  constructor(documents: Pick<DocumentStore, 'backlog'>) {
    this.#documents = documents;
    this.#looks = setInterval(() => void this.look(), EVERY_MS).unref();
    void this.look();
  }

  /** As of the last look that the store has answered. */
  get latest(): DocumentBacklog {
    return this.#latest;
  }

  async look(): Promise<void> {
    const found = await this.#documents.backlog();
    if (!isUnavailable(found)) this.#latest = found;
  }

  close(): void {
    clearInterval(this.#looks);
  }
}
