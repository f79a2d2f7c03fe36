// Logs failed exports: the first at once, then at most one line a minute with what was lost, and one line when they work again.
import type { Log } from '../ports/log.ts';

const EVERY_MS = 60_000;

interface ExportLogOptions {
  readonly log: Log;
  /** What is exported, for the line: `traces` or `metrics`. */
  readonly signal: string;
  /** Without credentials and query. */
  readonly url: string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

export class ExportLog {
  readonly #options: ExportLogOptions;
  #isFailing = false;
  #toldAtMs = -Infinity;
  #failed = 0;
  #lost = 0;

  constructor(options: ExportLogOptions) {
    this.#options = options;
  }

  /** Items that were dropped because too many were waiting. Told with the next failed export. */
  dropped(items: number): void {
    this.#lost += items;
  }

  /** `reason` in our own words. */
  failed(items: number, reason: string): void {
    const { log, signal, url, now } = this.#options;
    this.#isFailing = true;
    this.#failed++;
    this.#lost += items;
    if (now() - this.#toldAtMs < EVERY_MS) return;
    this.#toldAtMs = now();
    log.warn('OpenTelemetry: exports fail and are lost; callers notice nothing', { signal, url, reason, ...this.#counts() });
  }

  worked(): void {
    if (!this.#isFailing) return;
    const { log, signal, url } = this.#options;
    this.#isFailing = false;
    this.#toldAtMs = -Infinity;
    log.info('OpenTelemetry: exports work again', { signal, url, ...this.#counts() });
  }

  /** Since the last line. */
  #counts(): { readonly failed: number; readonly items_lost: number } {
    const counts = { failed: this.#failed, items_lost: this.#lost };
    this.#failed = 0;
    this.#lost = 0;
    return counts;
  }
}
