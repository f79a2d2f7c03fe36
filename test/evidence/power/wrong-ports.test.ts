// Every wrong port is noticed by the contract of its right one, which the right one passes.
import { protocolContract, scriptedTranslation, storeContract } from 'lingate/testing';
import type { ContractCase } from 'lingate/testing';
import { describe, expect, test } from 'vitest';
import { mine } from '../../../config/examples/own-protocol.ts';
import { ReferenceData, referenceStore } from '../../support/reference-store.ts';
import { lying } from './lies.ts';
import type { Lie } from './lies.ts';
import { WRONG_ENGINES } from './wrong-engines.ts';
import type { Protocol } from './wrong-engines.ts';
import { WRONG_STORES } from './wrong-stores.ts';

interface Contract {
  readonly cases: readonly ContractCase[];
  close(): Promise<void>;
}

interface Asked {
  readonly in: readonly string[];
  readonly to: string;
}

function storesContract(lie: Lie): Contract {
  const data = new ReferenceData();
  return storeContract(lying(async (clock) => referenceStore(clock, data), lie));
}

function enginesContract(protocol: Protocol): Contract {
  const translated = (body: string): string[] => {
    const asked = JSON.parse(body) as Asked;
    return asked.in.map((text) => scriptedTranslation(text, asked.to));
  };
  return protocolContract({
    protocol,
    options: { api_key: 'a-secret-of-the-operator' },
    right: ({ body }) => JSON.stringify({ out: translated(body) }),
    wrong: { 'one too few': ({ body }) => JSON.stringify({ out: translated(body).slice(1) }) },
  });
}

/** The first case of a part of the contract that is not passed. */
async function firstFailed(contract: Contract, part: string): Promise<string | undefined> {
  const tried = contract.cases.filter(({ name }) => name.startsWith(part));
  expect(tried.length).toBeGreaterThan(0);
  try {
    for (const { name, run } of tried) {
      const passed = await run().then(
        () => true,
        () => false,
      );
      if (!passed) return name;
    }
    return undefined;
  } finally {
    await contract.close();
  }
}

const partsOf = (wrong: readonly { readonly part: string }[]): string[] => [...new Set(wrong.map(({ part }) => part))];

describe('the right store', () => {
  test.each(partsOf(WRONG_STORES))('passes: %s', async (part) => {
    const right: Lie = () => ({});
    expect(await firstFailed(storesContract(right), part)).toBeUndefined();
  });
});

describe('a wrong store is noticed', () => {
  test.each(WRONG_STORES)('$name', async ({ part, port }) => {
    expect(await firstFailed(storesContract(port), part)).toBeDefined();
  });
});

describe('the right engine', () => {
  test.each(partsOf(WRONG_ENGINES))('passes: %s', async (part) => {
    expect(await firstFailed(enginesContract(mine), part)).toBeUndefined();
  });
});

describe('a wrong engine is noticed', () => {
  test.each(WRONG_ENGINES)('$name', async ({ part, port }) => {
    expect(await firstFailed(enginesContract(port), part)).toBeDefined();
  });
});
