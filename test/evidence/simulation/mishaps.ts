// Applies the faults of a scenario, and records what they excuse.
import type { Fault } from './faults.ts';
import { SimulatedGateway } from './gateway.ts';
import { newProcess } from './virtual-time.ts';
import type { RedisWiring } from './redis-wiring.ts';
import type { World } from './world.ts';

/** How long it may take after a fault until everything is connected and quiet again. */
const RECOVERY_MS = 700;
/** After something went wrong this long before a clean stop, verdicts may still be waiting. */
const JUST_BEFORE_MS = 3000;

/** Between two checks whether anything is in flight; and their number. */
const WAIT_MS = 2;
const WAITS_MAX = 100;

/** A gateway hears of a jump by a reply, or by a question twice a second; its connection may be broken. */
const UNHEARD_MS_MAX = 2000;
const CLOCK_JUMPED = "the store's clock jumped";

export class Mishaps {
  readonly #world: World;
  readonly #store: RedisWiring;
  readonly #gateways: SimulatedGateway[];
  #started = 0;
  /** Of gateways. */
  readonly #freezes: { readonly fromMs: number; readonly untilMs: number }[] = [];
  /** The store's clock is far from the right time. */
  #isWrong = false;

  constructor(world: World, store: RedisWiring) {
    this.#world = world;
    this.#store = store;
    this.#gateways = Array.from({ length: world.scenario.gateways }, () => this.#startGateway());
  }

  /** By position; another process replaces one that ends. */
  get gateways(): readonly SimulatedGateway[] {
    return this.#gateways;
  }

  start(): void {
    const { scenario, time } = this.#world;
    for (const fault of scenario.faults) time.after(time.world, fault.atMs, () => this.#strikeWhenBusy(fault, WAITS_MAX));
  }

  /** A fault has more effect while something is in flight. Waits a little for that, but not for ever. */
  #strikeWhenBusy(fault: Fault, waits: number): void {
    const { random, time } = this.#world;
    const busy = 'gateway' in fault ? this.#gateway(fault.gateway).busy : Math.max(...this.#gateways.map((gateway) => gateway.busy));
    if (busy > 0 || waits === 0) {
      time.after(time.world, random.pick([0, 0.3, 5, 40]), () => this.#happen(fault));
    } else {
      time.after(time.world, WAIT_MS, () => this.#strikeWhenBusy(fault, waits - 1));
    }
  }

  #startGateway(): SimulatedGateway {
    const { random, time } = this.#world;
    const clockOffByMs = random.pick([0, 0, -700, 1300, 86_400_000]);
    const process = newProcess(`gateway ${++this.#started}`, clockOffByMs);
    return time.as(process, () => new SimulatedGateway(this.#world, this.#store, process));
  }

  #happen(fault: Fault): void {
    const { history, journal, time } = this.#world;
    this.#world.note('fault', JSON.stringify(fault));
    // One that has been killed, or is already stopping, is not hit again.
    if (!('gateway' in fault) || this.#gateway(fault.gateway).serving) this.#count(fault.kind);
    switch (fault.kind) {
      case 'noise':
        this.#disturb(fault.forMs + 3000);
        this.#store.noise(fault);
        return void time.after(time.world, fault.forMs, () => this.#store.noise(undefined));
      case 'gateway_crash':
        return this.#crash(fault.gateway, fault.downMs);
      case 'gateway_restart':
        return void this.#restart(fault.gateway);
      case 'gateway_freeze': {
        const { process } = this.#gateway(fault.gateway);
        process.frozenUntilMs = Math.max(process.frozenUntilMs, time.nowMs + fault.forMs);
        this.#freezes.push({ fromMs: time.nowMs, untilMs: time.nowMs + fault.forMs });
        this.#disturb(fault.forMs);
        return history.excuse('its gateway stood still', process);
      }
      case 'gateway_clock':
        this.#gateway(fault.gateway).process.clockOffByMs += fault.byMs;
        return;
      case 'connection_break':
        this.#disturb(fault.downMs);
        return this.#gateway(fault.gateway).client.cut(fault.downMs);
      case 'store_freeze':
        this.#disturb(fault.forMs);
        this.#store.process.frozenUntilMs = Math.max(this.#store.process.frozenUntilMs, time.nowMs + fault.forMs);
        return;
      case 'store_restart':
        this.#disturb(fault.downMs);
        return this.#store.restart(fault.downMs, 0, 0);
      case 'store_failover':
        this.#disturb(fault.downMs);
        // Its clock may be ahead of the lost one's: leases end early then.
        if (fault.clockByMs !== 0) history.excuse('the store failed over to another clock');
        return this.#store.restart(fault.downMs, fault.lostMs, fault.clockByMs);
      case 'store_clock':
        history.excuse(CLOCK_JUMPED);
        this.#store.setClock(fault.byMs);
        if (this.#isWrong) journal.clockChangedAtMs = Infinity;
        return;
      case 'store_clock_wrong': {
        // Nobody goes by the clock now, so of a jump that some gateway did not know of it learns at the end. Until then gateways
        // differ by that jump, and no slot of one proves anything to another.
        const fromMs = this.#unheardSinceMs();
        if (journal.clockChangedAtMs > fromMs) journal.clockChangedAtMs = Infinity;
        this.#isWrong = true;
        this.#store.setWrong(fault.byMs);
        time.after(time.world, fault.forMs, () => {
          this.#isWrong = false;
          this.#store.setWrong(0);
          if (journal.clockChangedAtMs <= fromMs) return;
          journal.clockChangedAtMs = time.nowMs;
          history.excuse(CLOCK_JUMPED);
        });
        return undefined;
      }
    }
  }

  /** Some gateway may not know of a jump that was later: one that was frozen learns nothing meanwhile. */
  #unheardSinceMs(): number {
    const sinceMs = this.#world.time.nowMs - UNHEARD_MS_MAX;
    const freezes = this.#freezes.filter(({ untilMs }) => untilMs > sinceMs);
    return Math.min(sinceMs, ...freezes.map(({ fromMs }) => fromMs - UNHEARD_MS_MAX));
  }

  #count(kind: Fault['kind']): void {
    const { struck } = this.#world;
    struck.set(kind, (struck.get(kind) ?? 0) + 1);
  }

  #disturb(forMs: number): void {
    const { nowMs } = this.#world.time;
    this.#world.history.disturb(nowMs, nowMs + forMs + RECOVERY_MS);
  }

  #gateway(place: number): SimulatedGateway {
    return this.#gateways[place]!;
  }

  #crash(place: number, downMs: number): void {
    const gateway = this.#gateway(place);
    if (!gateway.process.alive || !gateway.serving) return;
    gateway.crash();
    this.#world.history.excuse('its gateway was killed', gateway.process);
    this.#world.time.after(this.#world.time.world, downMs, () => {
      this.#gateways[place] = this.#startGateway();
    });
  }

  async #restart(place: number): Promise<void> {
    const gateway = this.#gateway(place);
    if (!gateway.serving) return;
    gateway.serving = false;
    const { history, time } = this.#world;
    const startedAtMs = time.nowMs;
    await new Promise<void>((resolve) => time.after(gateway.process, 0, () => void gateway.stop().then(resolve)));
    this.#world.note(gateway.process, 'has stopped');
    // It waits a while for a store that is down, then leaves verdicts to their leases.
    const spanMs = time.nowMs - startedAtMs + JUST_BEFORE_MS;
    if (!history.quiet(time.nowMs - spanMs, time.nowMs, spanMs)) history.excuse('its gateway was stopped', gateway.process);
    time.after(time.world, 0, () => {
      if (gateway.process.timers > 0) this.#world.violate('stop', `${gateway.process.name} has stopped and still has timers`);
      gateway.process.alive = false;
      this.#gateways[place] = this.#startGateway();
    });
  }
}
