// The operators: create and revoke keys, change plans, add credit, while everything runs.
import type { KeyRing, SimulatedKey } from './keys.ts';
import { ulidOf } from './keys.ts';
import { drawKeyChange, drawKeyLimits } from './key-limits.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { SimulatedGateway } from './gateway.ts';
import { drawTagSettings, TAG_NAMES } from './tags.ts';
import { drawWindows } from './windows.ts';
import type { RedisWiring } from './redis-wiring.ts';
import type { Change, World } from './world.ts';

interface TeamInHand {
  readonly teamId: string;
  limits: TeamLimits;
}

export class Operators {
  readonly #world: World;
  readonly #store: RedisWiring;
  readonly #keys: KeyRing;
  readonly #teams: TeamInHand[] = [];
  #gateways: readonly SimulatedGateway[] = [];

  constructor(world: World, store: RedisWiring, keys: KeyRing) {
    this.#world = world;
    this.#store = store;
    this.#keys = keys;
  }

  /** Creates the teams and their first keys. */
  async found(): Promise<void> {
    const { random, scenario } = this.#world;
    for (const { limits, balanceMicro, keys } of scenario.teams) {
      const teamId = ulidOf(random);
      this.#teams.push({ teamId, limits });
      await this.#store.change({ kind: 'create_team', team: { teamId, name: 'Simulated', plan: 'drawn', limits, balanceMicro } });
      for (let i = 0; i < keys; i++) await this.#create(this.#keys.forge(random, teamId, this.#drawLimits()));
      if (scenario.tags !== undefined) for (const tag of TAG_NAMES) await this.#changeTag(teamId, tag);
    }
  }

  /** Plans the changes of the run. */
  start(gateways: readonly SimulatedGateway[]): void {
    this.#gateways = gateways;
    const { random, scenario, time } = this.#world;
    const changes = Math.round((scenario.changesPerSecond * scenario.loadMs) / 1000);
    for (let i = 0; i < changes; i++) {
      time.after(time.world, random.between(0, scenario.loadMs), () => void this.#change());
    }
    const keyChanges = Math.round(((scenario.keyChangesPerSecond ?? 0) * scenario.loadMs) / 1000);
    for (let i = 0; i < keyChanges; i++) {
      time.after(time.world, this.#world.keyRandom.between(0, scenario.loadMs), () => void this.#changeKey());
    }
    const tagChanges = Math.round(((scenario.tags?.changesPerSecond ?? 0) * scenario.loadMs) / 1000);
    for (let i = 0; i < tagChanges; i++) {
      const { tagRandom } = this.#world;
      time.after(
        time.world,
        tagRandom.between(0, scenario.loadMs),
        () => void this.#changeTag(tagRandom.pick(this.#teams).teamId, tagRandom.pick(TAG_NAMES)),
      );
    }
    for (let i = random.int(0, 2); i > 0; i--) {
      // Callers try it before it exists.
      const key = this.#keys.forge(random, random.pick(this.#teams).teamId, this.#drawLimits());
      time.after(time.world, random.between(0, scenario.loadMs), () => void this.#create(key));
    }
  }

  async #change(): Promise<void> {
    const { random } = this.#world;
    const team = random.pick(this.#teams);
    switch (random.pick(['revoke', 'limits', 'credit'] as const)) {
      case 'revoke':
        return this.#revoke(random.pick(this.#keys.keys));
      case 'limits': {
        const requestsPerSecond = random.pick([1, 3, 10, 1000]);
        team.limits = { ...team.limits, requestsPerSecond, maxCharactersPerRequest: random.pick([40, 10_000]), ...this.#drawTeamWindows() };
        const change = { plan: { name: 'changed', limits: team.limits } };
        await this.#carryOut({ kind: 'update_team', teamId: team.teamId, change });
        return;
      }
      case 'credit': {
        const addMicro = team.limits.billing === 'credit' ? random.int(0, 1_000_000) : 0;
        await this.#carryOut({ kind: 'update_team', teamId: team.teamId, change: { addMicro } });
      }
    }
  }

  /** Some keys have none. */
  #drawLimits(): KeyLimits {
    const { keyRandom, scenario, windowRandom } = this.#world;
    const limits = scenario.keyChangesPerSecond === undefined || keyRandom.chance(0.3) ? {} : drawKeyLimits(keyRandom, this.#storeMs);
    return scenario.hasWindows && windowRandom.chance(0.5) ? { ...limits, windows: drawWindows(windowRandom) } : limits;
  }

  /** Of a changed plan: mostly as before. */
  #drawTeamWindows(): { readonly windows?: string } {
    const { scenario, windowRandom } = this.#world;
    if (!scenario.hasWindows || windowRandom.chance(0.6)) return {};
    return { windows: windowRandom.chance(0.3) ? '' : drawWindows(windowRandom) };
  }

  /** Of a changed key: `null` for none. */
  #drawKeyWindows(): { readonly windows?: string | null } {
    const { scenario, windowRandom } = this.#world;
    if (!scenario.hasWindows || windowRandom.chance(0.5)) return {};
    return { windows: windowRandom.chance(0.3) ? null : drawWindows(windowRandom) };
  }

  get #storeMs(): number {
    return this.#world.time.wallMs(this.#store.process);
  }

  async #changeKey(): Promise<void> {
    const { keyRandom, time } = this.#world;
    const key = keyRandom.pick(this.#keys.keys);
    if (key.createdAtMs === undefined) return;
    const { keyId, teamId } = key.record;
    const change = drawKeyChange(keyRandom, this.#storeMs, this.#drawKeyWindows());
    if (change.disabled === false) {
      key.enabled++;
      for (const span of key.disabled) span.untilMs = Math.min(span.untilMs, time.nowMs);
    }
    const { enabled } = key;
    const isDone = await this.#carryOut({ kind: 'update_key', keyId, teamId, change });
    if (isDone && change.disabled === true && enabled === key.enabled) key.disabled.push({ fromMs: time.nowMs, untilMs: Infinity });
  }

  /** It may have no settings yet. */
  async #changeTag(teamId: string, tag: string): Promise<void> {
    const { tagRandom } = this.#world;
    const settings = tagRandom.chance(0.2) ? null : drawTagSettings(tagRandom);
    await this.#carryOut({ kind: 'set_tag', teamId, tag, settings });
  }

  async #create(key: SimulatedKey): Promise<void> {
    if (await this.#carryOut({ kind: 'create_key', key: key.record })) key.createdAtMs = this.#world.time.nowMs;
  }

  async #revoke(key: SimulatedKey): Promise<void> {
    if (key.createdAtMs === undefined || key.revokedAtMs !== undefined) return;
    const { keyId, teamId } = key.record;
    if (await this.#carryOut({ kind: 'revoke_key', keyId, teamId })) key.revokedAtMs = this.#world.time.nowMs;
  }

  /** By one of the gateways, or elsewhere. */
  async #carryOut(change: Change): Promise<boolean> {
    const { changeRandom } = this.#world;
    const gateway = this.#gateways.length > 0 && changeRandom.chance(0.5) ? changeRandom.pick(this.#gateways) : undefined;
    this.#world.note('operator', gateway === undefined ? change.kind : `${change.kind} by ${gateway.process.name}`);
    const isDone = await this.#store.change(change);
    gateway?.teamsChanged();
    return isDone;
  }
}
