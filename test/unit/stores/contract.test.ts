// The store contract, kept by the model, the SQLite store and the Redis store.
import { afterAll } from 'vitest';
import { modelBacking, redisBacking, sqliteBacking } from '../../contracts/backings.ts';
import { storeContract } from '../../contracts/store-contract.ts';

const BACKINGS = [
  { name: 'the reference model', backing: await modelBacking() },
  { name: 'the SQLite store, two instances on one file', backing: await sqliteBacking() },
  { name: 'the Redis store, two instances on one server', backing: await redisBacking() },
];

for (const { name, backing } of BACKINGS) storeContract(name, backing.open, backing.open);

afterAll(async () => {
  for (const { backing } of BACKINGS) await backing.remove();
});
