// Part of the store contract: rate, windows and characters in a period, which mean the same for a team, a key and a tag; those in a period
// also for the allowance of test keys and for credit.
import type { WindowName } from '../../domain/window-limits.ts';
import { expect } from '../expect.ts';
import { LIKE_LIMITED, LIMITED, tagged } from './limited-under-test.ts';
import type { LimitedUnderTest } from './limited-under-test.ts';
import { play } from './steps.ts';
import type { HowRefused } from './steps.ts';
import { newId, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, Subject, Terms } from './team-under-test.ts';

const MINUTE_MS = 60_000;

/** With this rate, requests at so many ms after the one before, and how long each has to wait: 0 if it is admitted. */
const TIMELINES: readonly (readonly [title: string, rate: number, requests: string])[] = [
  [
    'each slot is freed separately, exactly 1,000 ms after it was taken',
    3,
    '0:0 300:0 300:0 399:1 1:0 0:300 299:1 1:0 0:300 299:1 1:0 0:400',
  ],
  ['several slots of the same millisecond are freed together', 7, '0:0 0:0 3:0 200:0 200:0 0:0 500:0 0:97 96:1 1:0 0:0 0:3'],
  ['a refused request takes no slot', 1, '0:0 300:700 300:400 300:100 100:0'],
  ['after a step back of an hour, full slots stay full for one more second', 2, '0:0 0:0 -3600000:1000 999:1 1:0 0:0 0:1000'],
  // The newest counts as taken now, the other as taken 600 ms earlier.
  ['slots keep their intervals when the clock steps back', 2, '0:0 600:0 -3600000:400 400:0 0:600 600:0 0:400 70000:0 0:0 0:1000'],
  ['after a step back only the free slots are admitted', 3, '0:0 0:0 -1:0 0:1000'],
  ['slots move with the clock also while others are free', 2, '0:0 -1:0 1:999'],
  ['stepping back an hour and forward again locks nobody out', 1, '0:0 -3600000:1000 3600000:0 0:1000 1000:0'],
];

/** The first and the last moment of a window, which a clock must not be set back before the team was made. */
const ENDS: readonly (readonly [per: WindowName, from: string, to: string])[] = [
  ['minute', '2030-05-01T11:59:00Z', '2030-05-01T12:00:00Z'],
  ['hour', '2030-05-01T23:00:00Z', '2030-05-02T00:00:00Z'],
  ['day', '2030-02-28T00:00:00Z', '2030-03-01T00:00:00Z'],
  ['day', '2032-02-28T00:00:00Z', '2032-02-29T00:00:00Z'],
  ['week', '2030-04-29T00:00:00Z', '2030-05-06T00:00:00Z'],
  ['week', '2029-12-31T00:00:00Z', '2030-01-07T00:00:00Z'],
  ['month', '2030-01-01T00:00:00Z', '2030-02-01T00:00:00Z'],
  ['month', '2030-02-01T00:00:00Z', '2030-03-01T00:00:00Z'],
  ['month', '2032-02-01T00:00:00Z', '2032-03-01T00:00:00Z'],
  ['month', '2030-04-01T00:00:00Z', '2030-05-01T00:00:00Z'],
  ['month', '2029-12-01T00:00:00Z', '2030-01-01T00:00:00Z'],
  ['month', '2100-02-01T00:00:00Z', '2100-03-01T00:00:00Z'],
];

interface LimitCase {
  readonly title: string;
  readonly limits: string;
  /** What happens then: `play` (steps.ts). */
  readonly steps: string;
  /** When it begins. */
  readonly at?: string;
  readonly terms?: Terms;
  /** Holds also for these. */
  readonly also?: readonly string[];
}

/** The same for a window and for the period. */
const CHARACTERS = (per: 'period' | WindowName, also: readonly string[] = []): readonly LimitCase[] => [
  {
    title: `characters of a ${per} count when they are reserved, until they are released, their lease ends, or less is charged`,
    limits: `characters=100/${per}`,
    steps: `hold a 60; hold b 28 for 500; hold c 12 of 90; full; touch; 90 unreserved: admitted; commit a 25; fits 35; full; release c; fits 12;
      wait 499; full; wait 1; commit b: absent; fits 28; full; release c: absent; full`,
    also,
  },
  {
    title: `a changed number of characters in a ${per} keeps what is used`,
    limits: `characters=20/${per}`,
    steps: `use 15; limits characters=30/${per}; fits 15; full`,
    also,
  },
];

const ROWS: readonly LimitCase[] = [
  {
    title: 'a changed rate applies to the slots already taken',
    limits: 'requests=4/second',
    steps: `touch; wait 100; touch; wait 100; touch; wait 100; touch; wait 100; limits requests=2/second;
      touch: rate_limited by requests=2/second in 800; limits requests=5/second; touch; touch: rate_limited; limits; touch`,
  },
  ...ENDS.map(([per, from, to]) => {
    const full = `touch: rate_limited by requests=1/${per}`;
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    return {
      title: `a ${per} from ${from} ends at ${to}`,
      at: new Date(fromMs - 1).toISOString(),
      limits: `requests=1/${per}`,
      steps: `touch; ${full} in 1; at ${from}; touch; ${full} until ${to}; wait ${toMs - fromMs - 1}; ${full} in 1; wait 1; touch`,
    };
  }),
  {
    title: 'a window that ends begins again while a longer one goes on',
    at: '2030-05-01T10:30:00Z',
    limits: 'requests=2/minute requests=5/hour characters=1000/hour',
    steps: `touch; touch; touch: rate_limited by requests=2/minute in 60000; wait 60000; touch; touch; touch: rate_limited by requests=2/minute;
      wait 60000; touch; touch: rate_limited by requests=5/hour until 2030-05-01T11:00:00Z`,
  },
  {
    title: 'of several windows that refuse a request, the one that ends last is named',
    at: '2030-05-01T10:30:30Z',
    limits: ['minute', 'hour', 'day', 'week', 'month'].map((per) => `requests=1/${per} characters=15/${per}`).join(' '),
    steps: `hold a 10; touch: rate_limited by requests=1/month until 2030-06-01T00:00:00Z;
      limits characters=15/minute characters=15/hour requests=100/month; touch; 6: rate_limited by characters=15/hour in 1770000`,
  },
  {
    title: 'a week may end after a month',
    at: '2030-05-30T10:00:00Z',
    limits: 'requests=1/week requests=1/month',
    steps: 'touch; touch: rate_limited by requests=1/week until 2030-06-03T00:00:00Z',
  },
  {
    title: 'a request that a window refuses takes no slot, and is counted nowhere',
    limits: 'requests=2/hour characters=1000/hour',
    terms: { requestsPerSecond: 3 },
    steps: `touch; touch; 10: rate_limited by requests=2/hour; open 0; limits requests=9/hour; hold a 10; touch: rate_limited; wait 1000;
      touch; touch; touch; wait 1000; touch; touch; touch; wait 1000; touch: rate_limited by requests=9/hour`,
  },
  ...CHARACTERS('hour'),
  ...CHARACTERS('period', ['test keys', 'credit']),
  {
    title: 'a text longer than a whole window is a 402, and counts nowhere',
    at: '2030-05-01T10:30:30Z',
    limits: 'characters=30/minute characters=60/day',
    steps: `31: quota_exceeded by characters=30/minute until 2030-05-01T10:31:00Z; 61: quota_exceeded by characters=30/minute; 30: admitted`,
  },
  {
    title: 'characters and requests of a window are judged apart',
    limits: 'requests=3/day characters=20/day',
    steps: 'hold a 20; 1: rate_limited by characters=20/day; 0: admitted; touch; 1: rate_limited by requests=3/day',
  },
  {
    title: 'a changed number keeps what was counted; a new window begins with nothing',
    limits: 'requests=2/day characters=50/day',
    steps: `hold a 10; hold b 10; touch: rate_limited; limits requests=3/day characters=35/day requests=1/month;
      16: rate_limited by characters=35/day; 15: admitted; touch: rate_limited by requests=1/month; limits; touch;
      limits characters=40/day characters=30/month; release a; fits 15`,
  },
  {
    title: 'a reservation gives back only to the windows in which it was counted',
    limits: '',
    steps: `hold before 40; limits characters=100/day; hold all 100; release before; full; limits; hold between 30; limits characters=120/day;
      release between; fits 20`,
  },
  {
    title: 'if the clock steps back, a window stays; by more than its length, its counts move with the clock',
    at: '2030-05-01T10:30:10Z',
    limits: 'requests=2/minute',
    steps: `touch; at 2030-05-01T10:29:50Z; touch; touch: rate_limited by requests=2/minute in 70000;
      at 2030-05-01T10:28:30Z; touch: rate_limited by requests=2/minute in 30000; at 2030-05-01T10:31:00Z; touch`,
  },
  {
    title: 'a check before a long body judges rate and requests, and counts nothing',
    limits: 'requests=2/second requests=1/day characters=5/day',
    steps: `check; check; hold a 5; check: rate_limited by requests=1/day; limits requests=1/second;
      check: rate_limited by requests=1/second in 1000`,
  },
  {
    title: 'what was charged or is held in the period before there is a limit counts',
    limits: '',
    steps: `use 10; hold open 7; hold back 5; release back; limits characters=20/period;
      4: quota_exceeded by characters=20/period; fits 3; release open; fits 7; full`,
  },
];

export function limitsContract(it: AddStoreCase, subject: Subject): void {
  const { clock } = subject;
  for (const kind of [...LIMITED, ...LIKE_LIMITED]) {
    const { name, whose } = kind;
    /** Adds a case that begins with a new one that has these limits. */
    const of = (title: string, limits: string, run: (limited: LimitedUnderTest) => Promise<void>, terms: Terms = {}, at?: string): void =>
      it(`${name}: ${title}`, async () => {
        if (at !== undefined) clock.set(Date.parse(at));
        const limited = await kind.make(subject, terms);
        await limited.setOwn(limits);
        await run(limited);
      });
    const isLimited = LIMITED.includes(kind);
    const refusalBy = (per: string): HowRefused => (per === 'period' ? whose : { kind: 'rate_limited', ...whose });

    for (const { title, limits, steps, at, terms, also = [] } of ROWS) {
      const refusal = refusalBy(`${limits} ${steps}`.includes('/period') ? 'period' : 'window');
      if (isLimited || also.includes(name)) of(title, limits, (limited) => play(subject, limited, steps, refusal), terms, at);
    }

    of(
      'concurrent requests never exceed the characters, over two instances, and their commits use them up',
      'characters=30/period',
      async (limited) => {
        const asked = Array.from({ length: 60 }, (_, i) => limited.admit({ characters: 10 }, i % 3 === 0 ? subject.again : subject.store));
        const reserved = (await Promise.all(asked)).flatMap((answer) => (answer.kind === 'admitted' ? answer.reservation!.requestId : []));
        expect(reserved).toHaveLength(3);
        await Promise.all(reserved.map((requestId) => limited.commit(requestId, subject.again)));
        await play(subject, limited, 'used 30; held 0; open 0; full', refusalBy('period'));
      },
    );

    for (const per of ['minute', 'period'] as const) {
      if (per === 'minute' ? !isLimited : name === 'credit') continue;
      of(`characters begin again with the ${per}; what comes back later is of the one before`, `characters=90/${per}`, async (limited) => {
        const endMs = per === 'minute' ? (await limited.windowsUsed())[0]!.endMs : (await limited.usage()).periodEndMs;
        clock.set(endMs - 100);
        const steps = `hold a 30; hold b 20; hold c 40 for 200; full; wait 99; full; wait 1; 90: admitted; full;
          release a; commit b; full; wait 100; full`;
        await play(subject, limited, steps, refusalBy(per));
      });
    }
    if (!isLimited) continue;

    for (const [title, rate, requests] of TIMELINES) {
      of(title, `requests=${rate}/second`, async (limited) => {
        const pairs = requests.split(' ').map((pair) => pair.split(':').map(Number) as [stepMs: number, waitMs: number]);
        expect(
          await limited.waits(
            clock,
            pairs.map(([stepMs]) => stepMs),
          ),
        ).toEqual(pairs.map(([, waitMs]) => waitMs));
      });
    }

    of('a refusal by the rate holds for as long as it says, however old the newest slot is', 'requests=2/second', async (limited) => {
      for (const sinceMs of [0, 250, 699]) {
        await limited.waits(clock, [1000, 300]);
        clock.step(sinceMs);
        clock.step(await limited.holdsForMs());
        expect(await limited.touch()).toMatchObject({ kind: 'rate_limited', limit: 2 });
      }
    });

    of('a refusal by the rate stamps the last use, and its id may be admitted later', 'requests=1/second', async (limited) => {
      await limited.touch();
      clock.step(10);
      const requestId = newId();
      expect(await limited.admit({ requestId })).toEqual({ kind: 'rate_limited', limit: 1, retryAfterMs: 990, ...whose });
      const key = (await limited.usage()).keys.find(({ keyId }) => keyId === limited.keyId);
      expect(key?.lastUsedAtMs).toBe(clock.nowMs());
      clock.step(990);
      expect(await limited.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
    });

    of(
      'a refusal holds until the window ends for requests, not at all for characters',
      'requests=2/minute characters=10/hour',
      async (limited) => {
        const text = { characters: 8 };
        await limited.admit(text);
        expect(await limited.holdsForMs(text)).toBe(0);
        await limited.touch();
        // The hour ends later, but the refusal by the minute's requests is the one that holds.
        const holdsForMs = await limited.holdsForMs();
        expect(holdsForMs).toBeAtLeast(1);
        clock.step(Math.max(holdsForMs, await limited.holdsForMs(text)));
        expect((await limited.admit(text)).kind).toBe('rate_limited');
      },
    );

    of(
      'what is used of its windows is shown',
      'requests=5/minute characters=100/day',
      async (limited) => {
        const uses = async (...used: readonly (readonly [requests: number, characters: number, endMs: number])[]) =>
          expect(await limited.windowsUsed()).toMatchObject(
            used.map(([usedRequests, usedCharacters, endMs]) => ({ usedRequests, usedCharacters, endMs })),
          );
        const dayMs = Date.parse('2030-05-02T00:00:00Z');
        await uses([0, 0, clock.nowMs() + 30_000], [0, 0, dayMs]);
        await play(subject, limited, 'hold a 30; use 20; hold b 5 for 500; wait 500');
        // What an ended lease holds of a tag comes back with the team's next operation.
        if (name === 'tag') await limited.admit({ ...TOUCH, ...tagged('other') });
        await uses([3, 50, clock.nowMs() + 29_500], [3, 50, dayMs]);
        await play(subject, limited, 'at 2030-05-01T11:00:00Z; release a: absent');
        await uses([0, 0, clock.nowMs() + MINUTE_MS], [3, 20, dayMs]);
      },
      {},
      '2030-05-01T10:30:30Z',
    );

    of(
      'two instances admit exactly what fits, in bursts over the end of a window',
      'requests=7/minute characters=50/hour',
      async (limited) => {
        const other = limited.withKey((await limited.newKey()).keyId);
        for (let burst = 0; burst < 4; burst++) {
          // A key's own limit is not that of another.
          const asked = Array.from({ length: 24 }, (_, i) =>
            (i % 2 === 0 || name === 'key' ? limited : other).admit({ characters: 2 }, i % 3 === 0 ? subject.again : subject.store),
          );
          const answers = await Promise.all(asked);
          expect(answers.filter((answer) => answer.kind === 'admitted')).toHaveLength(burst % 2 === 0 ? 7 : 0);
          clock.step(burst % 2 === 0 ? 5 : MINUTE_MS);
        }
        expect((await limited.windowsUsed())[1]).toMatchObject({ usedRequests: 14 });
      },
      {},
      '2030-05-01T10:30:59.900Z',
    );
  }
}
