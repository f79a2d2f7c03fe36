// Part of the store contract: records of gateways about themselves.
import { expect } from '../expect.ts';
import { newId } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const DAY_MS = 86_400_000;

export function gatewaysContract(it: AddStoreCase, subject: Subject): void {
  const recent = async (mark: string, withinMs = 60_000): Promise<unknown> => {
    const found = await subject.again.gateways.recent(withinMs);
    return 'kind' in found ? found : found.filter(({ file }) => file.includes(mark));
  };
  const record = (host: string, file: string) => ({ host, file });

  it('a gateway’s record is visible to others, and replaced by the next one of the same host and file', async () => {
    const mark = newId();
    expect(await subject.store.gateways.leave(record('b', `/etc/${mark}.yaml`))).toBeUndefined();
    expect(await subject.store.gateways.leave(record('a', `/etc/${mark}.yaml`))).toBeUndefined();
    expect(await subject.store.gateways.leave(record('a', `/opt/“${mark}”.yaml`))).toBeUndefined();
    expect(await subject.store.gateways.leave(record('b', `/etc/${mark}.yaml`))).toBeUndefined();
    expect(await recent(mark)).toEqual([
      record('a', `/etc/${mark}.yaml`),
      record('a', `/opt/“${mark}”.yaml`),
      record('b', `/etc/${mark}.yaml`),
    ]);
  });

  it('only recent records are found, by the store’s clock, and each renewal counts', async () => {
    const mark = newId();
    const [quiet, alive] = [record('quiet', `/${mark}`), record('alive', `/${mark}`)];
    await subject.store.gateways.leave(quiet);
    await subject.store.gateways.leave(alive);
    subject.clock.step(40_000);
    await subject.store.gateways.leave(alive);
    subject.clock.step(20_000);
    expect(await recent(mark)).toEqual([alive, quiet]);
    subject.clock.step(1);
    expect(await recent(mark)).toEqual([alive]);
    expect(await recent(mark, 100_000)).toEqual([alive, quiet]);
  });

  it('records of gateways that stopped long ago are deleted', async () => {
    const mark = newId();
    await subject.store.gateways.leave(record('gone', `/${mark}`));
    subject.clock.step(DAY_MS + 1);
    await subject.store.gateways.leave(record('new', `/${mark}`));
    expect(await recent(mark, 10 * DAY_MS)).toEqual([record('new', `/${mark}`)]);
  });
}
