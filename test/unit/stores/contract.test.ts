// The store contract, kept by the model, the SQLite store and the Redis store.
import { storeContract } from 'lingate/testing';
import { afterAll, describe, test } from 'vitest';
import { modelBacking, redisBacking, sqliteBacking } from '../../support/backings.ts';

const BACKINGS = [
  { name: 'the reference model', backing: await modelBacking() },
  { name: 'the SQLite store, two instances on one file', backing: await sqliteBacking() },
  { name: 'the Redis store, two instances on one server', backing: await redisBacking() },
  { name: 'the Redis store, without the fast way of its script', backing: await redisBacking('general') },
  { name: 'the Redis store, with every way of its script tossed', backing: await redisBacking('tossed') },
];

describe.each(BACKINGS)('the store contract, kept by $name', ({ backing }) => {
  const contract = storeContract(backing.open);
  test.each(contract.cases)('$name', ({ run: expectKept }) => expectKept());
  afterAll(() => contract.close());
});

afterAll(async () => {
  for (const { backing } of BACKINGS) await backing.remove();
});
