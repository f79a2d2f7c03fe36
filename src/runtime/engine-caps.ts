// Engines with limited characters: reports what is sent each second; knows which are used up.
import { randomBytes } from 'node:crypto';
import { rfc3339 } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { EngineCap, EngineUse } from '../ports/engine-use.ts';
import type { Log } from '../ports/log.ts';
import { Rounds } from './rounds.ts';

interface EngineCapsOptions {
  readonly caps: ReadonlyMap<string, EngineCap>;
  /** Whether events are sent. */
  readonly reports: boolean;
  readonly log: Log;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

const REPORT_MS = 1000;

interface Capped {
  readonly cap: EngineCap;
  /** Sent since the last report was made up. */
  unreported: number;
  /** The report that the store has not confirmed. */
  report: { readonly number: number; readonly characters: number } | undefined;
  reports: number;
  /** In the window, of all gateways, as last read. */
  used: number;
  /** The window's end, by the monotonic clock, and by the store's. */
  endsMs: number;
  endMs: number | undefined;
}

export class EngineCaps {
  readonly #options: EngineCapsOptions;
  readonly #engines: ReadonlyMap<string, Capped>;
  readonly #process = randomBytes(9).toString('base64url');
  #reports: Rounds | undefined = undefined;

  constructor(options: EngineCapsOptions) {
    this.#options = options;
    this.#engines = new Map(
      [...options.caps].map(([name, cap]) => [
        name,
        { cap, unreported: 0, report: undefined, reports: 0, used: 0, endsMs: -Infinity, endMs: undefined },
      ]),
    );
  }

  get isEmpty(): boolean {
    return this.#engines.size === 0;
  }

  /** Reads what is used, and reports from now on. */
  async start(use: EngineUse): Promise<void> {
    if (this.isEmpty) return;
    this.#reports = new Rounds(REPORT_MS, () => this.#report(use));
    await this.#reports.now();
  }

  /** Counts texts that are about to be sent to an engine with a limit. */
  count(engine: string, characters: number): void {
    const capped = this.#engines.get(engine);
    if (capped !== undefined) capped.unreported += characters;
  }

  /** Counts a file to be sent, until the result is called with what the engine has billed. */
  countFile(engine: string, characters: number): (billed: number) => void {
    const capped = this.#engines.get(engine);
    if (capped === undefined) return () => undefined;
    capped.unreported += characters;
    const { endMs } = capped;
    return (billed) => {
      // What was counted in one window is not taken back in the next.
      const isSame = capped.endMs === endMs && this.#options.now() < capped.endsMs;
      capped.unreported += isSame ? billed - characters : Math.max(0, billed - characters);
    };
  }

  /** By what is known: without what other processes have sent within a second. */
  isSpent(engine: string): boolean {
    const capped = this.#engines.get(engine);
    if (capped === undefined) return false;
    const { cap, used, unreported, report, endsMs } = capped;
    const known = this.#options.now() < endsMs ? used : 0;
    return known + unreported + (report?.characters ?? 0) >= cap.most;
  }

  /** By engine, for the metrics. */
  states(): readonly { readonly engine: string; readonly reached: boolean }[] {
    return [...this.#engines.keys()].map((engine) => ({ engine, reached: this.isSpent(engine) }));
  }

  /** Reports what is left. */
  async close(): Promise<void> {
    await this.#reports?.close();
    // Perhaps one that the store has not confirmed, then the rest.
    await this.#reports?.now();
    await this.#reports?.now();
  }

  /** Once for every engine; a store that is away is sent it next time. */
  async #report(use: EngineUse): Promise<void> {
    await Promise.all([...this.#engines].map(([engine, capped]) => this.#reportOf(use, engine, capped).catch(() => undefined)));
  }

  async #reportOf(use: EngineUse, engine: string, capped: Capped): Promise<void> {
    const { reports, log, now } = this.#options;
    const { cap } = capped;
    if (capped.report === undefined) {
      capped.report = { number: ++capped.reports, characters: capped.unreported };
      capped.unreported = 0;
    }
    const { number, characters } = capped.report;
    const used = await use.add({ engine, cap, process: this.#process, report: number, characters, reports });
    if (isUnavailable(used)) return;
    capped.report = undefined;
    capped.used = used.characters;
    capped.endsMs = now() + used.endMs - used.nowMs;
    capped.endMs = used.endMs;
    if (!used.reachesNow) return;
    log.warn('an engine has used up its characters: it is left out until the window ends', {
      engine,
      per: cap.per,
      most: cap.most,
      characters: used.characters,
      until: rfc3339(used.endMs),
    });
  }
}
