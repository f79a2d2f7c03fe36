// The callers: send requests with keys that are good, revoked, unknown or not created yet, and sometimes leave early.
import type { Exchange } from '../../../src/core/exchange.ts';
import { refuse } from '../../../src/core/problem.ts';
import { BEFORE_CREATION_SHARE } from './keys.ts';
import type { KeyRing } from './keys.ts';
import type { Begun, SimulatedGateway } from './gateway.ts';
import { endedAtMs } from './history.ts';
import { drawAddress } from './key-limits.ts';
import { drawRequest } from './requests.ts';
import type { DrawnRequest, SentBody } from './requests.ts';
import { drawTag } from './tags.ts';
import type { World } from './world.ts';

const BROKEN_BODY = refuse('validation_error', 'body: it broke off.');

export class Callers {
  readonly #world: World;
  readonly #gateways: readonly SimulatedGateway[];
  readonly #keys: KeyRing;

  constructor(world: World, gateways: readonly SimulatedGateway[], keys: KeyRing) {
    this.#world = world;
    this.#gateways = gateways;
    this.#keys = keys;
  }

  /** Plans all requests of the run. They come in bursts, or the rate would never be the limit. */
  start(): void {
    const { random, scenario, time } = this.#world;
    let atMs = 0;
    for (let i = 0; i < scenario.requests; i++) {
      if (random.chance(0.4)) atMs = random.between(0, scenario.loadMs);
      atMs += random.pick([0, 0.1, 3, 50]);
      time.after(time.world, atMs, () => this.#send());
    }
  }

  #send(): void {
    const { random, scenario, time } = this.#world;
    const serving = this.#gateways.filter((gateway) => gateway.serving);
    if (serving.length === 0) return;
    const gateway = random.pick(serving);
    const key = this.#keys.draw(random, BEFORE_CREATION_SHARE);
    const tag = scenario.tags === undefined ? undefined : drawTag(this.#world.tagRandom);
    const request = drawRequest(random, { key: key.value, keyId: key.keyId, address: drawAddress(this.#world.keyRandom), tag });
    const broken = scenario.brokenAnswers && random.chance(0.2);
    time.after(gateway.process, 0, () => {
      if (gateway.serving) this.#begin(gateway, request, broken);
    });
  }

  #begin(gateway: SimulatedGateway, request: DrawnRequest, broken: boolean): void {
    const { random } = this.#world;
    const begun = gateway.begin(request, broken);
    if (random.chance(0.12)) this.#leaveLater(gateway, begun);
    this.#sendBody(gateway, begun, request.body);
  }

  #sendBody(gateway: SimulatedGateway, { x }: Begun, body: SentBody): void {
    const { random, time } = this.#world;
    if (x.outcome !== undefined || !x.route.takesBody || body === 'never') return;
    const hand = (): void => {
      if (x.outcome !== undefined || this.#hasLeft(x)) return;
      if (body === 'broken') gateway.gateway.callOff(x, BROKEN_BODY);
      else gateway.gateway.body(x, body);
    };
    if (random.chance(0.5)) hand();
    else time.after(gateway.process, random.latencyMs(5), hand);
  }

  #leaveLater(gateway: SimulatedGateway, { x, end }: Begun): void {
    const { random, scenario } = this.#world;
    const { storeLatencyMs, engineLatencyMs } = scenario;
    const patienceMs = random.pick([0, random.latencyMs(storeLatencyMs), random.latencyMs(engineLatencyMs)]);
    const { history, time } = this.#world;
    time.after(gateway.process, patienceMs, () => {
      const record = history.need(x.id);
      // A caller who has the answer already is done: a listener no longer reports that they left.
      if (endedAtMs(record) !== undefined) return;
      record.leftAtMs = time.nowMs;
      this.#world.note('caller', `${x.id} leaves`);
      end.leave(x);
    });
  }

  #hasLeft(x: Exchange): boolean {
    return this.#world.history.need(x.id).leftAtMs !== undefined;
  }
}
