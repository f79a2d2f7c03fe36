// The protocol contract, kept by every protocol that comes with the gateway.
import { protocolContract } from 'lingate/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { builtInProtocols } from '../../../../src/engines/protocols/built-in.ts';
import { SUBJECTS } from './subjects.ts';

test('every protocol that comes with the gateway is tried', () => {
  expect(Object.fromEntries(Object.entries(SUBJECTS).map(([name, { protocol }]) => [name, protocol]))).toEqual(
    Object.fromEntries(builtInProtocols),
  );
});

describe.each(Object.entries(SUBJECTS))('the protocol contract, kept by %s', (_name, subject) => {
  const contract = protocolContract(subject);
  test.each(contract.cases)('$name', ({ run: expectKept }) => expectKept());
  afterAll(() => contract.close());
});
