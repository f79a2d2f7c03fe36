// Requests in two TCP segments, cut at every byte, and in many: the same answers wherever the cut is.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LISTENERS, UWS_COLUMN } from '../../support/listeners.ts';
import { AUTH, BODY, LAST_CHUNK, chunk, get, inChunks, sized } from './notation.ts';
import { bytesOf, marksOf, play } from './play.ts';
import { everyWitnessed } from '../../support/plugins/witness.ts';
import { report } from '../scorecard/report.ts';
import { forEachOf } from '../input/gateways.ts';
import { startWitnessedGateway } from './witnessed-gateway.ts';
import type { WitnessedGateway } from './witnessed-gateway.ts';

const SHAPES = [
  ['a request that is answered at once', get('/health'), '200'],
  ['one that asks the store', get('/v1/usage', AUTH), '200'],
  ['a translation', sized(BODY), '200'],
  ['a translation in chunks', inChunks(chunk(BODY.slice(0, 12)) + chunk(BODY.slice(12)) + LAST_CHUNK), '200 close'],
] as const;

const AT_ONCE = 32;

describe.each(LISTENERS)('the %s listener', (listener) => {
  let gateway: WitnessedGateway;
  let played = 0;
  const tried = { cuts: 0, known: 0 };

  beforeAll(async () => {
    gateway = await startWitnessedGateway(listener);
  });

  afterAll(async () => {
    await gateway.stop();
    report({
      row: 14,
      figure: `${SHAPES.length} requests cut at every byte, ${listener} listener`,
      measured: `${tried.cuts - tried.known} of ${tried.cuts} cuts make no difference, ${tried.known} are the known ones`,
      counts: { badInputs: tried.cuts },
    });
  });

  /** The outcome when the request is cut at these splits, once for every list of them. */
  function cutAt(bytes: string, expected: string, cuts: readonly (readonly number[])[]): Promise<string[]> {
    return forEachOf(cuts, AT_ONCE, async (splits) => {
      const marks = marksOf(listener === 'uws' ? 'f' : 'g', played++);
      const [whole] = bytesOf(bytes, marks);
      const edges = [0, ...splits, whole!.length];
      const pieces = edges.slice(1).map((edge, i) => whole!.subarray(edges[i], edge));
      const { outcome } = await play(gateway.port, pieces, expected);
      const handled = everyWitnessed().filter(({ mark }) => mark === marks.own).length;
      return `${outcome}, ${handled} handled`;
    });
  }

  test.each(SHAPES)('%s may be cut at any byte, but for the known ones', async (_what, bytes, expected) => {
    const splits = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
    const outcomes = await cutAt(
      bytes,
      expected,
      splits.map((place) => [place]),
    );
    const odd = splits.filter((_, i) => outcomes[i] !== `${expected}, 1 handled`);
    const known = listener === 'uws' && UWS_COLUMN === 'older' ? knownCuts(bytes) : [];
    expect(odd).toEqual(known);
    for (const place of known) expect(outcomes[place - 1]).toBe('html:505 close, 0 handled');
    tried.cuts += splits.length;
    tried.known += known.length;
  });

  const anywhere = listener === 'node' || UWS_COLUMN === 'newer';

  test.each(SHAPES)(`%s may come byte by byte${anywhere ? '' : ' after its request line'}`, async (_what, bytes, expected) => {
    const start = anywhere ? 1 : bytes.indexOf('\r\n') + 2;
    const splits = Array.from({ length: bytes.length - start }, (_, i) => start + i);
    expect(await cutAt(bytes, expected, [splits])).toEqual([`${expected}, 1 handled`]);
  });
});

/** Deviation 23 of the older build: right after the first blank, and from the second blank to the CR, it takes the first piece for a whole line. */
function knownCuts(bytes: string): number[] {
  const first = bytes.indexOf(' ') + 1;
  const second = bytes.indexOf(' ', first) + 1;
  const lineEnd = bytes.indexOf('\r') + 1;
  return [first, ...Array.from({ length: lineEnd - second + 1 }, (_, i) => second + i)];
}
