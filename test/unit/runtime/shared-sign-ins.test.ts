// Attempts to sign in, shared by processes: each recognizes those of the others, and each attempt counts once.
import { beforeEach, expect, test } from 'vitest';
import { referenceStore } from '../../support/reference-store.ts';
import type { SignInAttempt } from '../../../src/domain/sign-in-attempt.ts';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { BegunAttempt, SignInAttemptSource } from '../../../src/ports/identity-provider.ts';
import type { SharedSecrets } from '../../../src/ports/shared-secrets.ts';
import { SharedSignIns } from '../../../src/runtime/shared-sign-ins.ts';
import { RecordSignIns } from '../../../src/stores/records/record-sign-ins.ts';

const MINUTE_MS = 60_000;
const AWAY: StoreUnavailable = { kind: 'unavailable', cause: 'timeout' };

let nowMs: number;
let provider: string;
let secrets: SharedSecrets;
let agreed: number;
let sources: SignInAttemptSource[];

beforeEach(() => {
  nowMs = 1_800_000_000_000;
  provider = 'https://id.example.com';
  agreed = 0;
  const store = referenceStore({ nowMs: () => nowMs });
  secrets = {
    nowMs: () => nowMs,
    agree(...asked) {
      agreed++;
      return store.secrets.agree(...asked);
    },
  };
  const open = (): SignInAttemptSource =>
    new SharedSignIns({
      secrets: { nowMs: () => secrets.nowMs(), agree: (...asked) => secrets.agree(...asked) },
      records: new RecordSignIns(store.records),
      provider: () => provider,
      now: () => nowMs,
    });
  sources = [open(), open()];
});

const begun = async (): Promise<BegunAttempt> => (await sources[0]!.begin()) as BegunAttempt;

test('what one process has begun the other recognizes, for ten minutes, also over midnight', async () => {
  nowMs = 86_400_000 * 20_833 - 1;
  const { attempt, kept } = await begun();
  expect(await sources[1]!.resume(kept)).toEqual(attempt);
  nowMs += 10 * MINUTE_MS - 1;
  expect(await sources[1]!.resume(kept)).toEqual(attempt);
  nowMs += 1;
  expect(await sources[1]!.resume(kept)).toBeUndefined();
});

test('after a change of the provider it is another attempt', async () => {
  const { attempt, kept } = await begun();
  provider = 'https://other.example.com';
  expect(((await sources[1]!.resume(kept)) as SignInAttempt).state).not.toBe(attempt.state);
});

test('of any number of uses at the same time, in both processes, one is the first', async () => {
  const { attempt } = await begun();
  const uses = await Promise.all(Array.from({ length: 8 }, (_, i) => sources[i % 2]!.use(attempt)));
  expect(uses.filter((first) => first === true)).toHaveLength(1);
  expect(await sources[1]!.use((await begun()).attempt)).toBe(true);
});

test('a used attempt is remembered until long after it is too old, and then forgotten', async () => {
  const { attempt } = await begun();
  await sources[0]!.use(attempt);
  nowMs += 19 * MINUTE_MS;
  expect(await sources[1]!.use(attempt)).toBe(false);
  nowMs += MINUTE_MS;
  await sources[0]!.use((await begun()).attempt);
  expect(await sources[1]!.use(attempt)).toBe(true);
});

test('many attempts cost the store one operation a minute; an old or forged one none', async () => {
  const { kept } = await begun();
  for (let i = 0; i < 50; i++) await begun();
  expect(agreed).toBe(1);
  nowMs += MINUTE_MS;
  await begun();
  expect(agreed).toBe(2);
  nowMs += 10 * MINUTE_MS;
  await sources[0]!.resume(kept);
  await sources[0]!.resume(`${'9'.repeat(13)}${kept.slice(13)}`);
  expect(agreed).toBe(2);
});

test('without the store, or before its time is known, there is no attempt', async () => {
  const { kept } = await begun();
  nowMs += MINUTE_MS;
  secrets = { nowMs: () => nowMs, agree: () => Promise.resolve(AWAY) };
  for (const source of sources) expect([await source.begin(), await source.resume(kept)]).toEqual([AWAY, AWAY]);
  secrets = { ...secrets, nowMs: () => undefined };
  expect(await sources[0]!.begin()).toMatchObject({ kind: 'unavailable' });
});
