// Part of the store contract: secrets on which all processes agree.
import type { SharedSecrets } from '../../ports/store.ts';
import { expect } from '../expect.ts';
import { newId } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const KEEP_MS = 3_600_000;
const BYTES = 32;

export function secretsContract(it: AddStoreCase, subject: Subject): void {
  const here = (): SharedSecrets => subject.store.secrets;
  const there = (): SharedSecrets => subject.again.secrets;
  const newName = (): string => `test:${newId().toLowerCase()}`;
  const filled = (byte: number): Uint8Array => new Uint8Array(BYTES).fill(byte);

  it('of candidates at the same time on two instances, one becomes the secret of all', async () => {
    const name = newName();
    const found = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? here() : there()).agree(name, filled(i), KEEP_MS)));
    const [first] = found as Uint8Array[];
    expect(first!.length).toBe(BYTES);
    for (const one of found as Uint8Array[]) expect([...one]).toEqual([...first!]);
    for (const one of [here(), there()]) expect([...((await one.agree(name, filled(99), KEEP_MS)) as Uint8Array)]).toEqual([...first!]);
  });

  it('each name has a secret of its own, and every byte is kept', async () => {
    const [name, other] = [newName(), newName()];
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    await here().agree(name, all, KEEP_MS);
    await here().agree(other, filled(2), KEEP_MS);
    expect([...((await there().agree(name, filled(3), KEEP_MS)) as Uint8Array)]).toEqual([...all]);
    expect([...((await there().agree(other, filled(3), KEEP_MS)) as Uint8Array)]).toEqual([...filled(2)]);
  });

  it('the time is whole milliseconds by the clock of the store', async () => {
    subject.clock.step(1234);
    for (const one of [here(), there()]) expect(one.nowMs()).toBe(subject.clock.nowMs());
  });
}
