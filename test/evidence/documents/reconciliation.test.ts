// Documents over two gateways of which one after the other is killed: nothing lost, nothing charged wrongly, nothing held, none worked
// on twice. `npm run task -- documents` does it with 2,000 documents and 100 kills.
import { expect, test } from 'vitest';
import { sized } from '../scorecard/size.ts';
import { reconcileDocuments } from './reconciliation.ts';

const DOCUMENTS = sized(10, 60);
const KILLS = sized(2, 4);

/** Each kill leaves claims that last for half a minute, and a busy machine may be ten times as slow. */
const TIMEOUT_MS = 600_000;

test.concurrent.each(['sqlite', 'redis'] as const)(
  `${DOCUMENTS} documents and ${KILLS} kills on %s`,
  { timeout: TIMEOUT_MS },
  async (kind) => {
    const { wrong, accepted, charged, kills } = await reconcileDocuments({
      kind,
      documents: DOCUMENTS,
      kills: KILLS,
      parallel: 12,
      teams: 4,
    });
    expect(wrong).toEqual([]);
    expect(kills).toBe(KILLS);
    expect(accepted).toBeGreaterThan(0);
    expect(charged).toBeGreaterThan(0);
  },
);
