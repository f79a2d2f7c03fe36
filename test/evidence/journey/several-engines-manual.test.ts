// The manual's example of a move from one engine to another without a restart.
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { V1 } from '../../support/fronts.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { request } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';
import { loaded } from '../../support/written-file.ts';

interface Example {
  readonly engines: Readonly<Record<string, object>>;
  readonly routing: readonly object[];
}

test('the rules of the move from one engine to another are taken by a reload', async () => {
  const started = startedUntil(onTestFinished);
  const [old, fresh, moved] = [await started.engine(), await started.engine(), await started.engine()];
  const engines = { old: { urls: [old.url] }, new: { urls: [fresh.url] } };
  const section = manualSection('several-engines', 'From one engine to another without a restart');
  const [example] = codeBlocks(section, 'yaml').map((text) => parse(text) as Example);
  const placed = Object.entries(example!.engines).map(([name, engine]) => [name, { ...engine, ...engines[name as keyof typeof engines] }]);
  const gateway = await started.gateway({ config: { engines: Object.fromEntries(placed) as object, routing: example!.routing } });
  const { key } = await gateway.team();
  /** How often each has been called, after one more translation. */
  const called = async (): Promise<readonly number[]> => {
    await request({ port: gateway.port, ...V1.translation(key, ['The house is big.']) });
    return [old, fresh, moved].map(({ requests }) => requests.length);
  };
  const reload = (routing: object, others: object = {}): readonly string[] =>
    gateway.app.reload(loaded(JSON.stringify({ engines: { ...engines, ...others }, routing })));
  expect(await called()).toEqual([1, 0, 0]);
  reload([{ plans: ['free'], engines: ['new', 'old'] }, { engines: ['old'] }]);
  expect(await called()).toEqual([2, 0, 0]);
  reload([{ engines: ['new'] }]);
  expect(await called()).toEqual([2, 1, 0]);
  // A reload takes URLs along with the rules, those of every engine.
  reload([{ engines: ['new'] }], { new: { urls: [moved.url] } });
  expect(await called()).toEqual([2, 1, 1]);
  reload([{ engines: ['new'] }]);
  // One that is not there yet waits, and the rules with it.
  const waiting = reload([{ engines: ['third'] }], { third: { urls: ['http://127.0.0.1:1'] } });
  expect(waiting).toEqual(expect.arrayContaining(['engines', 'routing']));
  expect(await called()).toEqual([2, 2, 1]);
});
