// The protocol contract, run on every protocol that comes with the gateway.
import { protocolContract } from 'lingate/testing';
import type { ContractCase } from 'lingate/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { builtInProtocols } from '../../../../src/engines/protocols/built-in.ts';
import { SUBJECTS } from './subjects.ts';

test('every protocol that comes with the gateway is tested', () => {
  expect(Object.fromEntries(Object.entries(SUBJECTS).map(([name, { protocol }]) => [name, protocol]))).toEqual(
    Object.fromEntries(builtInProtocols),
  );
});

const CONTRACTS = Object.entries(SUBJECTS).map(([name, subject]) => ({ name, contract: protocolContract(subject) }));
/** These cases only wait. */
const waits = ({ name }: ContractCase): boolean => name.endsWith('deadline');

afterAll(() => Promise.all(CONTRACTS.map(({ contract }) => contract.close())));

describe.each(CONTRACTS)('the protocol contract, kept by $name', ({ contract }) => {
  test.each(contract.cases.filter((one) => !waits(one)))('$name', ({ run: expectUpheld }) => expectUpheld());
});

// The cases of one protocol run in sequence; the protocols run concurrently.
describe.concurrent.each(CONTRACTS)('the protocol contract with time, kept by $name', ({ contract }) => {
  test.each(contract.cases.filter(waits))('$name', { concurrent: false }, ({ run: expectUpheld }) => expectUpheld());
});
