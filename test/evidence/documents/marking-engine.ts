// An engine for documents that fails now and then, and notices if two gateway processes work on one document at the same time.
import { act } from '../../support/door/contracts.ts';
import { slow, startScriptedEngine, status } from '../../../src/testing.ts';
import type { Act } from '../../../src/testing/scripted-behaviours.ts';
import type { Behaviour } from '../../../src/testing/scripted-engine.ts';
import type { Seeded } from '../faults/seeded.ts';
import { numberIn } from './small-files.ts';

export interface MarkingEngine {
  /** The engine of one gateway process, which its name identifies. */
  urlOf(gateway: string): string;
  readonly calls: number;
  readonly failures: number;
  /** Documents on which two processes were at work at one moment. */
  readonly shared: readonly string[];
  close(): Promise<void>;
}

/** Of a hundred calls. */
const FAULTS: readonly (readonly [percent: number, behaviour: Behaviour])[] = [
  [8, status(500)],
  [3, 'hang'],
  [3, 'reset'],
  [2, 'not_json'],
];
const SLOW_MS_MAX = 40;

export async function startMarkingEngine(random: Seeded): Promise<MarkingEngine> {
  const engine = await startScriptedEngine({ remembers: false });
  /** By document, the processes that have a call under way. */
  const atWork = new Map<number, Map<string, number>>();
  const shared: string[] = [];
  let [calls, failures] = [0, 0];
  const obey: Act = (request, response) => {
    calls++;
    const gateway = request.path.split('/')[1]!;
    const { text } = JSON.parse(request.body) as { readonly text: readonly string[] };
    const documents = new Set(text.map(numberIn));
    for (const document of documents) {
      const processes = atWork.get(document) ?? new Map<string, number>();
      atWork.set(document, processes.set(gateway, (processes.get(gateway) ?? 0) + 1));
      if (processes.size > 1) shared.push(`d${document} by ${[...processes.keys()].join(' and ')}`);
    }
    response.once('close', () => {
      for (const document of documents) {
        const processes = atWork.get(document)!;
        const left = processes.get(gateway)! - 1;
        if (left > 0) processes.set(gateway, left);
        else processes.delete(gateway);
        if (processes.size === 0) atWork.delete(document);
      }
    });
    const behaviour = behaviourOf(random.between(0, 99));
    if (behaviour !== undefined) failures++;
    act(behaviour ?? slow(random.between(0, SLOW_MS_MAX)), request, response, response.socket!);
  };
  engine.always(obey);
  return {
    urlOf: (gateway) => `${engine.url}/${gateway}`,
    get calls() {
      return calls;
    },
    get failures() {
      return failures;
    },
    shared,
    close: () => engine.close(),
  };
}

function behaviourOf(drawn: number): Behaviour | undefined {
  let sum = 0;
  return FAULTS.find(([percent]) => drawn < (sum += percent))?.[1];
}
