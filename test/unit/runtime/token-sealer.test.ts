// The processes of a store seal and open each other's tokens, with one read of the secret a day, and agree again after a loss.
import { expect, test } from 'vitest';
import { TOKEN_LIFE_MS } from '../../../src/domain/access-token.ts';
import { digestOf } from '../../../src/domain/api-key.ts';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { SharedSecrets } from '../../../src/ports/shared-secrets.ts';
import { SharedTokenSealer } from '../../../src/runtime/token-sealer.ts';

const DIGEST = digestOf('a key');
const NOON_MS = Date.UTC(2026, 10, 23, 12);
const AWAY: StoreUnavailable = { kind: 'unavailable', cause: 'away' };

/** A store in memory, by whose calls and clock it is judged. */
class Secrets implements SharedSecrets {
  readonly kept = new Map<string, Uint8Array>();
  calls = 0;
  away = false;
  timeMs: number | undefined = NOON_MS;

  nowMs(): number | undefined {
    return this.timeMs;
  }

  async agree(name: string, candidate: Uint8Array): Promise<Uint8Array | StoreUnavailable> {
    this.calls++;
    if (this.away) return AWAY;
    const found = this.kept.get(name) ?? candidate;
    this.kept.set(name, found);
    return found;
  }
}

function scene() {
  const secrets = new Secrets();
  const time = { nowMs: 0 };
  const sealer = (purpose = 'test') => new SharedTokenSealer({ secrets, purpose, now: () => time.nowMs });
  return { secrets, time, sealer };
}

test('a token of one opens at another, which reads the secret once', async () => {
  const { secrets, sealer } = scene();
  const [one, other] = [sealer(), sealer()];
  const tokens = await Promise.all([one.seal(DIGEST), one.seal(DIGEST), other.seal(DIGEST)]);
  expect(secrets.calls).toBe(2);
  for (const token of tokens) for (const each of [one, other]) expect(each.open(token as string)).toBe(DIGEST);
  const third = sealer();
  const opened = Array.from({ length: 20 }, () => third.open(tokens[0] as string));
  expect(opened.every((result) => result instanceof Promise)).toBe(true);
  expect(new Set(await Promise.all(opened.map((found) => Promise.resolve(found))))).toEqual(new Set([DIGEST]));
  expect([third.open(tokens[0] as string), secrets.calls]).toEqual([DIGEST, 3]);
});

test('it expires after ten minutes by the store’s clock, to the millisecond', async () => {
  const { secrets, sealer } = scene();
  const one = sealer();
  const token = (await one.seal(DIGEST)) as string;
  secrets.timeMs = NOON_MS + TOKEN_LIFE_MS - 1;
  expect(one.open(token)).toBe(DIGEST);
  secrets.timeMs++;
  expect(one.open(token)).toBeUndefined();
});

test('it holds over midnight, after which tokens have another secret', async () => {
  const { secrets, sealer } = scene();
  const one = sealer();
  secrets.timeMs = Date.UTC(2026, 10, 24) - 1;
  const before = (await one.seal(DIGEST)) as string;
  secrets.timeMs += 60_000;
  const after = (await one.seal(DIGEST)) as string;
  for (const token of [before, after]) expect(await sealer().open(token)).toBe(DIGEST);
  expect(secrets.kept.size).toBe(2);
  const [yesterday, today] = [...secrets.kept.values()];
  expect(Buffer.from(yesterday!).equals(today!)).toBe(false);
});

test('another purpose does not open it', async () => {
  const { sealer } = scene();
  const token = (await sealer().seal(DIGEST)) as string;
  expect(await sealer('other').open(token)).toBeUndefined();
});

test('while the store is away, those who have the secret go on, and others say so', async () => {
  const { secrets, time, sealer } = scene();
  const [one, other] = [sealer(), sealer()];
  const token = (await one.seal(DIGEST)) as string;
  secrets.away = true;
  time.nowMs = 10 * 60_000;
  expect(one.open(token)).toBe(DIGEST);
  expect(await one.seal(DIGEST)).toEqual(expect.any(String));
  expect([await other.open(token), await other.seal(DIGEST)]).toEqual([AWAY, AWAY]);
  secrets.away = false;
  expect(await other.open(token)).toBe(DIGEST);
});

test('a store that lost the secret gets it back within a minute of use', async () => {
  const { secrets, time, sealer } = scene();
  const one = sealer();
  const token = (await one.seal(DIGEST)) as string;
  secrets.kept.clear();
  time.nowMs = 60_000;
  expect(one.open(token)).toBe(DIGEST);
  expect(secrets.calls).toBe(2);
  expect(await sealer().open(token)).toBe(DIGEST);
});

test('if the store has agreed with another meanwhile, that secret is followed', async () => {
  const { secrets, time, sealer } = scene();
  const [one, other] = [sealer(), sealer()];
  const old = (await one.seal(DIGEST)) as string;
  secrets.kept.clear();
  const token = (await other.seal(DIGEST)) as string;
  expect(one.open(token)).toBeUndefined();
  time.nowMs = 60_000;
  void one.open(token);
  await expect.poll(() => one.open(token)).toBe(DIGEST);
  expect(one.open(old)).toBeUndefined();
});

test('before the store’s time is known, nothing is sealed or opened', async () => {
  const { secrets, sealer } = scene();
  const one = sealer();
  const token = (await one.seal(DIGEST)) as string;
  secrets.timeMs = undefined;
  expect([await one.open(token), await one.seal(DIGEST)]).toEqual([
    { kind: 'unavailable', cause: 'busy' },
    { kind: 'unavailable', cause: 'busy' },
  ]);
});

test('forged times read no secrets beyond those of two days', async () => {
  const { secrets, sealer } = scene();
  const one = sealer();
  const bytes = Buffer.alloc(66);
  for (let i = 0; i < 500; i++) {
    bytes.writeUIntBE(NOON_MS + (i - 250) * 86_400_000, 0, 6);
    expect(await one.open(`la_token_${bytes.toString('base64url')}`)).toBeUndefined();
  }
  bytes.writeUIntBE(NOON_MS + 1, 0, 6);
  expect(await one.open(`la_token_${bytes.toString('base64url')}`)).toBeUndefined();
  expect(secrets.calls).toBeLessThanOrEqual(2);
});
