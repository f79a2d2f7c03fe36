// Bursts of requests over several instances of a store: whatever their order was, the auditor must find one that explains all answers.
import { answered } from '../../../src/index.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { AdmissionRequest, Verdict } from '../../../src/ports/ledger.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import type { TeamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { AuditedTeam } from '../../support/auditor/account.ts';
import type { Action } from '../../support/auditor/deeds.ts';
import { judgeNow } from '../../support/auditor/end.ts';
import { freshKey, GENEROUS_QUOTA, newId, teamUnderTest } from '../../support/door/contracts.ts';
import type { Seeded } from './seeded.ts';

interface BurstOptions {
  readonly stores: () => readonly PluginStore[];
  readonly random: Seeded;
  readonly limits: Partial<TeamLimits>;
  /** Of the team's keys, besides one without limits. */
  readonly keys: readonly KeyLimits[];
  /** Of one burst. */
  readonly requests: readonly [fewest: number, most: number];
  readonly charactersMost: number;
  readonly leasesMs: readonly number[];
}

/** A team, and everything that is asked for it. */
export class Bursts {
  readonly violations: string[] = [];
  asked = 0;
  refused = 0;
  readonly audited = new AuditedTeam({ clockChangedAtMs: () => -Infinity, isAddressIn: () => false });
  readonly #options: BurstOptions;
  readonly #team: TeamUnderTest;
  readonly #keyIds: readonly string[];
  #open: { readonly requestId: string; readonly untilMs: number }[] = [];

  private constructor(options: BurstOptions, team: TeamUnderTest, keyIds: readonly string[]) {
    this.#options = options;
    this.#team = team;
    this.#keyIds = keyIds;
  }

  static async of(options: BurstOptions, nowMs: number): Promise<Bursts> {
    const [first] = options.stores();
    const team = await teamUnderTest(first!, options.limits);
    const keys = options.keys.map((limits) => ({ ...freshKey(team.teamId), limits }));
    for (const key of keys) answered(await first!.teams.createKey(key));
    const made = new Bursts(options, team, [team.keyId, ...keys.map(({ keyId }) => keyId)]);
    made.#tell({ kind: 'team', limits: { ...GENEROUS_QUOTA, ...options.limits }, addMicro: 0 }, nowMs);
    for (const { keyId, mode, limits } of keys) made.#tell({ kind: 'create_key', keyId, mode, limits }, nowMs);
    return made;
  }

  /** All at once; then some of what is open is settled, all at once. */
  async round(nowMs: number): Promise<void> {
    const { random, requests, charactersMost, leasesMs } = this.#options;
    const asked = Array.from({ length: random.between(...requests) }, (): AdmissionRequest => {
      const [keyId, leaseMs, characters] = [random.oneOf(this.#keyIds), random.oneOf(leasesMs), random.between(1, charactersMost)];
      return { requestId: newId(), teamId: this.#team.teamId, keyId, characters, reserve: true, leaseMs, glossary: undefined };
    });
    const admissions = await Promise.all(
      asked.map(async (request) => ({
        kind: 'admit' as const,
        request,
        answer: await this.#untilAnswered((store) => store.ledger.admit(request)),
      })),
    );
    this.audited.takeAtOnce(admissions, { atMs: nowMs, storeMs: nowMs }, this.#violate);
    this.asked += asked.length;
    this.refused += admissions.filter(({ answer }) => answer.kind === 'rate_limited').length;
    const held = admissions.flatMap(({ request: { requestId, leaseMs }, answer }) =>
      answer.kind === 'admitted' ? [{ requestId, untilMs: nowMs + leaseMs }] : [],
    );
    this.#open = [...this.#open, ...held].filter(({ untilMs }) => nowMs < untilMs);
    await this.#settleSome(nowMs);
    const { teams } = this.#anyStore();
    const [standing, usage] = [answered(await teams.standing(this.#team.teamId))!, answered(await teams.usage(this.#team.teamId))!];
    judgeNow(this.audited, { standing, usage, storeMs: nowMs }, this.#violate);
  }

  async #settleSome(nowMs: number): Promise<void> {
    const { random } = this.#options;
    const ending = this.#open.filter(() => random.chance(0.6));
    this.#open = this.#open.filter((one) => !ending.includes(one));
    const settled = await Promise.all(
      ending.map(async ({ requestId }) => {
        const verdict: Verdict = random.chance(0.5) ? 'commit' : 'release';
        const answer = await this.#untilAnswered((store) => store.ledger.resolve(this.#team.teamId, requestId, verdict));
        return { kind: 'resolve' as const, requestId, verdict, characters: undefined, answer };
      }),
    );
    for (const action of settled) this.#tell(action, nowMs);
  }

  /** A busy file may answer too late on a busy machine; the id then tells whether the operation ran. */
  async #untilAnswered<Answer extends { readonly kind: string }>(ask: (store: PluginStore) => Answer | Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await ask(this.#anyStore());
      if (answer.kind !== 'unavailable') return answer;
    }
  }

  #anyStore(): PluginStore {
    return this.#options.random.oneOf(this.#options.stores());
  }

  #tell(action: Action, nowMs: number): void {
    this.audited.take(action, { atMs: nowMs, storeMs: nowMs }, this.#violate);
  }

  readonly #violate = (rule: string, seen: string): void => void this.violations.push(`${rule}: ${seen}`);
}
