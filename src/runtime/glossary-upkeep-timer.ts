// Has engines that keep dictionaries of teams tidied once an hour, and those of a deleted team removed.
import type { GlossaryUpkeep, ReplicaTrial } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import type { Forgetful } from './forgetting.ts';

interface GlossaryUpkeepOptions {
  /** By name; those without `upkeep` keep none. */
  readonly engines: ReadonlyMap<string, { readonly upkeep: GlossaryUpkeep | undefined }>;
  /** The time that is believed: dictionaries are removed by it. */
  readonly nowMs: () => number;
  readonly log: Log;
}

/** Not at the start: a gateway that has just been started has used nothing yet. */
const FIRST_MS = 600_000;
const EVERY_MS = 3_600_000;

export class GlossaryUpkeepTimer {
  /** What forgets deleted teams. */
  readonly forgetful: readonly Forgetful[];
  readonly #options: GlossaryUpkeepOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Engines whose last failure was logged. */
  readonly #failing = new Set<string>();

  constructor(options: GlossaryUpkeepOptions) {
    this.#options = options;
    this.forgetful = [...options.engines].flatMap(([name, { upkeep }]) =>
      upkeep === undefined ? [] : [{ plugin: `engine ${name}`, forget: (teamId) => forget(upkeep, teamId) }],
    );
    if (this.forgetful.length > 0) this.#timer = setTimeout(() => this.#tidyAgain(), FIRST_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Never rejects. */
  async tidy(): Promise<void> {
    const { engines, nowMs, log } = this.#options;
    for (const [engine, { upkeep }] of engines) {
      const [failed] = (await upkeep?.tidy(nowMs())) ?? [];
      if (failed === undefined) this.#failing.delete(engine);
      else if (!this.#failing.has(engine)) {
        this.#failing.add(engine);
        log.warn('glossaries that nobody uses any more could not be removed at an engine: tried again every hour', {
          engine,
          replica: failed.url,
          failure: failed.failure!.failure,
        });
      }
    }
  }

  #tidyAgain(): void {
    void this.tidy();
    this.#timer = setTimeout(() => this.#tidyAgain(), EVERY_MS).unref();
  }
}

/** Rejects if it could not be done everywhere, so that it is tried again. Clearing the cache of translations concerns no dictionary. */
async function forget(upkeep: GlossaryUpkeep, teamId: string | undefined): Promise<void> {
  const failed: readonly ReplicaTrial[] = teamId === undefined ? [] : await upkeep.forget(teamId);
  if (failed.length > 0) throw new Error('not all replicas have removed the dictionaries of a team');
}
