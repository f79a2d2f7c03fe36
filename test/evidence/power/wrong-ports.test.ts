// Every wrong port is noticed by the contract of its right one, which the right one passes.
import { storeContract } from 'lingate/testing';
import type { ContractCase } from 'lingate/testing';
import { describe, expect, test } from 'vitest';
import { emptyData, referenceStore } from '../../../config/examples/reference-store.ts';
import { lying } from './lies.ts';
import type { Lie } from './lies.ts';
import { WRONG_STORES } from './wrong-stores.ts';

/** The cases of the contract that a store does not pass. */
async function failedOf(part: string, lie: Lie = () => ({})): Promise<string[]> {
  const data = emptyData();
  const contract = storeContract(lying(async (clock) => referenceStore(clock, data), lie));
  const cases = contract.cases.filter(({ name }) => name.startsWith(part));
  expect(cases.length).toBeGreaterThan(0);
  const failed = await failing(cases);
  await contract.close();
  return failed;
}

async function failing(cases: readonly ContractCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of cases) {
    const passed = await run().then(
      () => true,
      () => false,
    );
    if (!passed) failed.push(name);
  }
  return failed;
}

describe('the right store', () => {
  test.each([...new Set(WRONG_STORES.map(({ part }) => part))])('passes: %s', async (part) => {
    expect(await failedOf(part)).toEqual([]);
  });
});

describe('a wrong store is noticed', () => {
  test.each(WRONG_STORES)('$name', async ({ part, lie }) => {
    const failed = await failedOf(part, lie);
    expect(failed).not.toEqual([]);
  });
});
