// The guarantees of every engine protocol, as cases for any test runner: run them against your own protocol.
import { collector } from './cases.ts';
import type { ContractCase } from './cases.ts';
import { Bench } from './protocol/bench.ts';
import type { ProtocolSubject } from './protocol/bench.ts';
import { conduct } from './protocol/conduct.ts';
import { rightAnswers } from './protocol/right-answers.ts';
import { unusableAnswers } from './protocol/unusable-answers.ts';

export type { ProtocolSubject } from './protocol/bench.ts';

export interface ProtocolContract {
  /** Run them one after another: they share two scripted engines. */
  readonly cases: readonly ContractCase[];
  /** Closes everything that the cases opened. */
  close(): Promise<void>;
}

/**
 * Tests a protocol through the gateway's own engine client, against two replicas that speak it and misbehave. Nothing is
 * opened before the first case runs.
 *
 * @example
 * const contract = protocolContract({
 *   protocol: myProtocol,
 *   options: { api_key: 'k' },
 *   right: ({ body }) => JSON.stringify({ out: JSON.parse(body).in.map((text) => scriptedTranslation(text, 'DE')) }),
 *   wrong: { 'one too few': ({ body }) => JSON.stringify({ out: JSON.parse(body).in.slice(1) }) },
 * });
 * for (const { name, run } of contract.cases) test(name, run);
 * after(() => contract.close());
 */
export function protocolContract(subject: ProtocolSubject): ProtocolContract {
  const bench = new Bench(subject);
  const cases: ContractCase[] = [];
  rightAnswers(collector(cases, 'right answers', bench), bench);
  unusableAnswers(collector(cases, 'unusable answers', bench), bench);
  conduct(collector(cases, 'conduct', bench), bench);
  return { cases, close: () => bench.close() };
}
