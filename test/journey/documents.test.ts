// Documents over real sockets, on both listeners and stores: their life from upload to download, and what it costs.
import { expect, test } from 'vitest';
import { answered, dayOf } from '../../src/index.ts';
import { DocumentCaller } from '../support/document-caller.ts';
import { expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';

const SECRET = 'a secret of the tests that is long enough';
const config = { documents: { secret: SECRET } };
const LETTER = 'Dear Ms Miller,\r\n\r\nthank you for your letter.\n  \nYours\n';
const TEXT = ['Dear Ms Miller,', 'thank you for your letter.', 'Yours'];
const CHARACTERS = TEXT.join('').length;
/** Of the sixteen transfers of documents that a gateway takes at a time, those of one team. */
const SHARE = 4;

onOneGateway({ config }, (setting) => {
  const callerOf = ({ key }: TestTeam): DocumentCaller => new DocumentCaller(setting.gateway.port, key);
  const used = async ({ teamId }: TestTeam): Promise<number> => answered(await setting.gateway.store.teams.usage(teamId))!.characters;
  /** Whether so many characters are neither used nor held. */
  const isFree = async ({ key }: TestTeam, characters: number): Promise<boolean> =>
    (await translateText(setting, key, 'x'.repeat(characters))).status === 200;

  test('a document is uploaded, translated in the background, downloaded and deleted', async () => {
    const team = await setting.gateway.team();
    const caller = callerOf(team);
    const accepted = await caller.upload({ file: LETTER });
    expect(accepted.status).toBe(202);
    const { document_id: id, ...rest } = JSON.parse(accepted.body) as Record<string, unknown>;
    expect(rest).toEqual({ status: 'queued', characters_held: 50_000 });
    expect(accepted.header('location')).toBe(`/v1/documents/${String(id)}`);

    expect(await caller.reached(String(id), 'done')).toEqual({ document_id: id, status: 'done', billed_characters: CHARACTERS });
    expect(await used(team)).toBe(CHARACTERS);
    const result = await caller.result(String(id));
    expect([result.status, result.body]).toEqual([200, '[DE] Dear Ms Miller,\r\n\r\n[DE] thank you for your letter.\n  \n[DE] Yours\n']);
    expect(result.header('content-type')).toBe('text/plain');
    expect(result.header('content-disposition')).toBe(`attachment; filename="letter.txt"; filename*=UTF-8''letter.txt`);

    expect((await caller.remove(String(id))).status).toBe(204);
    expectProblem(await caller.state(String(id)), 'document_not_found');
    expectProblem(await caller.result(String(id)), 'document_not_found');
    expectProblem(await caller.remove(String(id)), 'document_not_found');
  });

  test('downloads cost nothing more, nor does the deletion bring anything back', async () => {
    const team = await setting.gateway.team();
    const caller = callerOf(team);
    const id = await caller.uploaded({ file: LETTER });
    await caller.reached(id, 'done');
    const results = await Promise.all(Array.from({ length: SHARE }, () => caller.result(id)));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200]));
    await caller.remove(id);
    expect(await used(team)).toBe(CHARACTERS);
  });

  test('a document is charged under the tag of its upload', async () => {
    const team = await setting.gateway.team();
    const caller = callerOf(team);
    const id = await caller.uploaded({ file: LETTER, headers: { 'lingate-tag': 'Acme' } });
    await caller.reached(id, 'done');
    const today = dayOf(Date.now());
    const tagged = async () => answered(await setting.gateway.store.tags.days(team.teamId, { from: today - 1, to: today + 1 }));
    expect(await tagged()).toMatchObject([{ tag: 'acme', characters: CHARACTERS, requests: 1 }]);
  });

  test('a document that is deleted before it is done costs nothing', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 60_000, max_characters_per_request: 60_000 });
    const caller = callerOf(team);
    setting.engine.always('hang');
    const id = await caller.uploaded({ file: LETTER });
    await caller.reached(id, 'translating');
    expect(await isFree(team, 60_000)).toBe(false);
    expect((await caller.remove(id)).status).toBe(204);
    setting.engine.always('ok');
    await expect.poll(() => isFree(team, 60_000)).toBe(true);
  });

  /** So many parts that a key can be changed between them. */
  const LONG = Array.from({ length: 400 }, (_, n) => `${n} ${'x'.repeat(1000)}\n\n`).join('');
  test.each([
    ['revoked', 'key_revoked', ({ keyId }: TestTeam) => setting.gateway.store.teams.revokeKey(keyId)],
    ['disabled', 'key_revoked', ({ keyId }: TestTeam) => setting.gateway.store.teams.updateKey(keyId, { disabled: true })],
    [
      'expired',
      'key_revoked',
      ({ keyId }: TestTeam) => setting.gateway.store.teams.updateKey(keyId, { limits: { expiresAtMs: Date.now() + 1 } }),
    ],
    [
      'without the scope',
      'forbidden',
      ({ keyId }: TestTeam) => setting.gateway.store.teams.updateKey(keyId, { limits: { scopes: ['usage:read'] } }),
    ],
  ] as const)('a key that is %s ends its documents from the next part on, and nothing is charged', async (_what, code, change) => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 1_000_000 });
    const caller = callerOf(team);
    const id = await caller.uploaded({ file: LONG });
    await caller.reached(id, 'translating');
    answered(await change(team));
    const records = async () => answered(await setting.gateway.store.records.list(team.teamId, 'documents'));
    const record = async () => JSON.parse((await records()).get(id)!) as { state: string; code?: string; holds: unknown[] };
    await expect.poll(async () => (await record()).state, { timeout: 60_000 }).toBe('error');
    expect(await record()).toMatchObject({ code, holds: [] });
    expect(await used(team)).toBe(0);
  });

  test('402 for a document whose characters are not left, which is not kept', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 49_999 });
    expect((await callerOf(team).upload({ file: LETTER })).status).toBe(402);
    expect(answered(await setting.gateway.store.records.list(team.teamId, 'documents')).size).toBe(0);
  });

  test('a document that has more characters than were held, and than are left, fails and costs nothing', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 50_000, max_characters_per_request: 60_000 });
    const caller = callerOf(team);
    const id = await caller.uploaded({ file: `${'x'.repeat(999)}\n`.repeat(51) });
    expect(await caller.reached(id, 'error')).toMatchObject({ code: 'quota_exceeded' });
    expectProblem(await caller.result(id), 'document_failed', { failed_with: 'quota_exceeded' });
    expect(await isFree(team, 50_000)).toBe(true);
  });

  test('what was counted is reserved also if it does not fit beside what was held before', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 50_010 });
    const caller = callerOf(team);
    const id = await caller.uploaded({ file: LETTER });
    expect(await caller.reached(id, 'done')).toMatchObject({ billed_characters: CHARACTERS });
  });

  test('409 before it is done, with Retry-After', async () => {
    const team = await setting.gateway.team();
    const caller = callerOf(team);
    setting.engine.always('hang');
    const id = await caller.uploaded({ file: LETTER });
    const early = await caller.result(id);
    expectProblem(early, 'document_not_ready');
    expect(early.header('retry-after')).toBe('5');
    expect((await caller.remove(id)).status).toBe(204);
    setting.engine.always('ok');
    await expect.poll(() => isFree(team, 1000)).toBe(true);
  });

  test('what is wrong with an upload is told, and nothing is held for it', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 50_000, max_characters_per_request: 50_000 });
    const caller = callerOf(team);
    expect(expectProblem(await caller.upload({ file: LETTER, fields: {} }), 'invalid_target_lang')).toMatch(/^target_lang:/);
    expect(expectProblem(await caller.upload({ file: '' }), 'validation_error')).toMatch(/^file:/);
    expect(expectProblem(await caller.upload({ file: LETTER, fileName: 'letter.exe' }), 'validation_error')).toMatch(/^file:/);
    expect(expectProblem(await caller.upload({ file: LETTER, fileName: 'letter.docx' }), 'validation_error')).toMatch(/^file:/);
    const fields = { target_lang: 'DE', source_lang: 'EN', glossary_id: '01KA6Q4T1V8E5S0H6N3B7W2XJD' };
    expect(expectProblem(await caller.upload({ file: LETTER, fields }), 'validation_error')).toMatch(/^glossary_id:/);
    const json = await caller.ask('POST', '', { headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') });
    expect(expectProblem(json, 'validation_error')).toMatch(/^Content-Type:/);
    await expect.poll(() => isFree(team, 50_000)).toBe(true);
  });

  test('another team’s document looks as if it did not exist', async () => {
    const [one, other] = [await setting.gateway.team(), await setting.gateway.team()];
    const id = await callerOf(one).uploaded({ file: LETTER });
    for (const answer of [callerOf(other).state(id), callerOf(other).result(id), callerOf(other).remove(id)]) {
      expectProblem(await answer, 'document_not_found');
    }
    expect(await callerOf(one).reached(id, 'done')).toBeDefined();
  });

  test('at most three documents of a team are at work', async () => {
    const team = await setting.gateway.team();
    const caller = callerOf(team);
    setting.engine.always('hang');
    const uploads = () => Promise.all(Array.from({ length: SHARE }, () => caller.upload({ file: LETTER })));
    const refused = [...(await uploads()), ...(await uploads())].filter(({ status }) => status !== 202);
    expect(refused).toHaveLength(2 * SHARE - 3);
    for (const response of refused) expectProblem(response, 'rate_limited', { limit: 3 });
    setting.engine.always('ok');
  });
});
