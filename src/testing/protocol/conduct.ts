// Cases on how a protocol makes attempts: once each, the second on another replica, and none after the caller has disconnected.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import { scriptedTranslation, status } from '../scripted-engine.ts';
import { Caller, workOf } from './bench.ts';
import type { Bench } from './bench.ts';

export function conduct(it: AddCase, bench: Bench): void {
  it('the second attempt is made at the other replica', async () => {
    const replicas = await bench.replicas();
    replicas[0].always(status(503));
    const result = await bench.translate(replicas, workOf(['Hello']));
    expect(result).toMatchObject({ kind: 'usable', translations: [{ text: scriptedTranslation('Hello', 'DE') }] });
    expect(result.failures).toHaveLength(1);
    for (const replica of replicas) expect(replica.requests.length).toBeAtLeast(1);
  });

  it('with a single replica, the second attempt uses a new connection', async () => {
    const [replica] = await bench.replicas();
    const before = replica.connections;
    replica.behave('reset');
    expect(await bench.translate([replica], workOf(['Hello']))).toMatchObject({ kind: 'usable' });
    expect(replica.connections - before).toBeAtLeast(2);
  });

  it('an attempt tries once: refused requests are not repeated', async () => {
    const [replica] = await bench.replicas();
    replica.always(status(503));
    expect(await bench.translate([replica], workOf(['Hello']))).toMatchObject({ kind: 'unavailable' });
    const bodies = replica.requests.map(({ body }) => body);
    expect(bodies).toHaveLength(2);
  });

  it('a disconnecting caller ends the call, and there is no second attempt', async () => {
    const replicas = await bench.replicas();
    for (const replica of replicas) replica.always('hang');
    const caller = new Caller();
    const result = bench.translate(replicas, workOf(['Hello']), undefined, caller);
    await replicas[0].until(() => replicas[0].requests.length > 0);
    caller.leave();
    expect(await result).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    await replicas[0].until(() => replicas[0].requests.every(({ aborted }) => aborted));
    expect(replicas[1].requests).toHaveLength(0);
  });

  it('a caller that has already disconnected costs the engine nothing', async () => {
    const replicas = await bench.replicas();
    const caller = new Caller();
    caller.leave();
    expect(await bench.translate(replicas, workOf(['Hello']), undefined, caller)).toEqual({ kind: 'unavailable', failures: [] });
    for (const replica of replicas) expect(replica.requests).toHaveLength(0);
  });
}
