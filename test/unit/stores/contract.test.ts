// The store contract, run on the SQLite store and the Redis store; on the reference model the wrong ports run it.
import { accountsContract, storeContract } from 'lingate/testing';
import { afterAll, describe, test } from 'vitest';
import { referenceStore } from '../../support/reference-store.ts';
import { storeBacking } from '../../support/backings.ts';

const BACKINGS = [
  { name: 'the SQLite store, two instances on one file', backing: await storeBacking('sqlite') },
  { name: 'the Redis store, two instances on one server', backing: await storeBacking('redis') },
];

describe.each(BACKINGS)('the store contract, kept by $name', ({ backing }) => {
  const contract = storeContract(backing.open);
  test.each(contract.cases)('$name', ({ run: expectUpheld }) => expectUpheld());
  afterAll(() => contract.close());
});

describe('the contract of whole stores, kept by the reference model', () => {
  const contract = accountsContract(async (clock) => referenceStore(clock));
  test.each(contract.cases)('$name', ({ run: expectUpheld }) => expectUpheld());
  afterAll(() => contract.close());
});

afterAll(async () => {
  for (const { backing } of BACKINGS) await backing.remove();
});
