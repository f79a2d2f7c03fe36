// The steps in which cases say what a team does, one after the other, and what must come of each.
import { expect } from '../expect.ts';
import type { QuotaExceeded, RateLimited, Verdict } from '../../ports/ledger.ts';
import type { Standing } from '../../ports/team-registry.ts';
import type { AdmissionChoices, Subject, TeamUnderTest } from './team-under-test.ts';

/** How a request is refused for which a limit has no room: by default as the team's billing has it, and in the team's name. */
export interface HowRefused {
  readonly kind?: string;
  readonly of?: string | undefined;
}

interface Scene extends Pick<Subject, 'clock' | 'again'> {
  readonly team: TeamUnderTest;
  readonly refusal: HowRefused;
}

const SETTLED: Readonly<Record<Verdict, string>> = { commit: 'committed', release: 'released' };
const STANDING: Readonly<Record<string, keyof Standing>> = {
  held: 'heldCharacters',
  open: 'openReservations',
  balance: 'balanceMicro',
  'credit held': 'heldMicro',
};

/** `: rate_limited by requests=2/minute in 700` */
const ANSWER = String.raw`(?:: (\w+)(?: by (\w+)=(\d+)/(\w+)(?: (in|until) (\S+))?)?)`;

/** Makes a request, which must be answered in this way. */
async function asked(
  { clock, team, refusal }: Scene,
  request: AdmissionChoices | 'touch' | 'check',
  [kind = 'admitted', counts = '', most, per = '', until, end = '']: readonly (string | undefined)[],
): Promise<void> {
  const nowMs = clock.nowMs();
  const answer = await (typeof request === 'string' ? team[request]() : team.admit(request));
  expect(answer.kind).toBe(kind);
  if (most === undefined) return;
  const { retryAfterMs, periodEndMs = 0, ...said } = answer as Partial<Omit<RateLimited, 'kind'> & Omit<QuotaExceeded, 'kind'>>;
  expect(said).toEqual({
    kind,
    ...(kind === 'rate_limited' ? { limit: Number(most) } : { characterLimit: Number(most), overageCapMinor: 0 }),
    of: refusal.of,
    window: per === 'second' || per === 'period' ? undefined : { per, counts },
  });
  if (until !== undefined) expect(retryAfterMs ?? periodEndMs - nowMs).toBe(until === 'in' ? Number(end) : Date.parse(end) - nowMs);
}

async function refused({ team, refusal: { kind = team.refusal(), of } }: Scene, characters: number): Promise<void> {
  const answer = await team.admit({ characters });
  expect({ kind: answer.kind, of: 'of' in answer ? answer.of : undefined }).toEqual({ kind, of });
}

const STEPS: readonly (readonly [RegExp, (scene: Scene, ...words: readonly string[]) => Promise<void> | void])[] = [
  [
    /^hold (\w+) (\d+)(?: of (\d+))?(?: for (\d+))?$/,
    async ({ team }, name = '', characters = '', length, leaseMs) => {
      const charged = length === undefined ? {} : { charged: Number(characters) };
      const lease = leaseMs === undefined ? {} : { leaseMs: Number(leaseMs) };
      const reservation = await team.reserve(Number(length ?? characters), { ...charged, ...lease });
      expect(reservation.characters).toBe(Number(characters));
      team.reserved.set(name, reservation.requestId);
    },
  ],
  [/^use (\d+)$/, ({ team }, characters) => team.use(Number(characters))],
  [
    /^(commit|release) (\w+)(?: (\d+))?(?:: (\w+))?$/,
    async ({ team }, verdict, name = '', part, kind = SETTLED[verdict as Verdict]) => {
      const requestId = team.reserved.get(name) ?? name;
      const settled =
        verdict === 'release' ? team.release(requestId) : team.commitPart(requestId, part === undefined ? part : Number(part));
      expect(await settled).toEqual({ kind });
    },
  ],
  [new RegExp(`^(touch|check)${ANSWER}?$`), (scene, what, ...answer) => asked(scene, what as 'touch' | 'check', answer)],
  [
    new RegExp(`^(\\d+)( unreserved)?${ANSWER}$`),
    (scene, characters, unreserved, ...answer) =>
      asked(scene, { characters: Number(characters), reserve: unreserved === undefined }, answer),
  ],
  [/^full$/, (scene) => refused(scene, 1)],
  [
    /^fits (\d+)$/,
    async (scene, characters) => {
      await refused(scene, Number(characters) + 1);
      await asked(scene, { characters: Number(characters) }, []);
    },
  ],
  [/^(wait|back) (\d+)$/, ({ clock }, which, ms) => clock.step(which === 'back' ? -Number(ms) : Number(ms))],
  [/^at (\S+)$/, ({ clock }, moment = '') => clock.set(Date.parse(moment))],
  [/^limits ?(.*)$/, ({ team }, limits = '') => team.setOwn(limits)],
  [
    /^used (\d+)$/,
    async ({ team }, number) => {
      const [standing, usage] = [await team.standing(), await team.usage()];
      expect([standing.usedCharacters, usage.characters]).toEqual([Number(number), Number(number)]);
    },
  ],
  [
    /^(held|open|balance|credit held) (\d+)$/,
    async ({ team }, what = '', number) => expect((await team.standing())[STANDING[what]!]).toBe(Number(number)),
  ],
  [
    /^period (\S+) (\S+)$/,
    async ({ team, again }, start = '', end = '') => {
      const { periodStartMs, periodEndMs } = await team.usage(again);
      expect([periodStartMs, periodEndMs].map((ms) => new Date(ms).toISOString())).toEqual(
        [start, end].map((text) => new Date(text).toISOString()),
      );
    },
  ],
];

/**
 * Plays steps, which `;` separates:
 *
 * | step | what happens, or must hold |
 * |---|---|
 * | `hold a 10`, `hold a 10 of 50`, `hold a 10 for 500` | 10 characters are reserved (of a text of 50, for 500 ms), which has the name `a` |
 * | `use 10` | 10 characters are reserved and committed |
 * | `commit a`, `commit a 3`, `release a`, `commit a: absent` | a settlement, of all or of a part, and how it ends |
 * | `touch`, `touch: rate_limited`, `check` | a request without text, or a check before a long body, and its answer |
 * | `10: quota_exceeded`, `10 unreserved: admitted` | a request with 10 characters, to reserve or not, and its answer |
 * | `… by requests=2/minute in 700`, `… until 2030-05-01T12:00:00Z` | which limit refused it, and for how long |
 * | `fits 10`, `full` | 11 characters are refused for the limit, then 10 are reserved; a single one is refused for it |
 * | `wait 500`, `back 500`, `at 2030-05-01T12:00:00Z` | the clock steps by 500 ms, or is set |
 * | `limits characters=5/period` | whoever it is has these limits of its own from now on |
 * | `used 10` | the characters of the running period in the team's standing and usage |
 * | `held 10`, `open 1`, `balance 7`, `credit held 7` | the rest of its standing |
 * | `period 2030-05-01 2030-06-01` | from when to when its running period is |
 */
export async function play({ clock, again }: Subject, team: TeamUnderTest, steps: string, refusal: HowRefused = {}): Promise<void> {
  for (const [i, step] of steps.split(';').entries()) {
    const [words, run] = STEPS.map(([form, does]) => [form.exec(step.trim()), does] as const).find(([found]) => found !== null) ?? [];
    if (run === undefined || words === undefined) throw new Error(`not a step: ${step}`);
    try {
      await run({ clock, again, team, refusal }, ...words!.slice(1));
    } catch (error) {
      throw new Error(`step ${i + 1}, "${step.trim()}": ${(error as Error).message}`, { cause: error });
    }
  }
}
