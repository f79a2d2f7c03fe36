// Deleting a team: what its callers see, and that the whole store, log and metrics contain nothing of it afterwards.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answered as stored, dateOf, dayOf } from '../../../src/index.ts';
import { canonicalRange, digestOf } from '../../support/door/terms.ts';
import { adminClient } from '../../support/admin-client.ts';
import type { Json } from '../../support/admin-client.ts';
import { ask, expectProblem, onEveryGateway } from '../../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import { request } from '../../support/raw-http.ts';
import { locationsOf } from '../../support/store-search.ts';
import { writtenOnce } from '../../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
const PLANS = { pro: { ...QUOTA_PLAN, max_glossaries: 20 }, prepaid: { ...CREDIT_PLAN, max_glossaries: 20 } };
const [FROM, TO] = [-1, 1].map((days) => dateOf(dayOf(Date.now()) + days)) as [string, string];
/** Several pieces of entries. */
const MANY_ENTRIES = 4000;

interface Traces {
  readonly teamId: string;
  readonly keyIds: readonly string[];
  readonly key: string;
  readonly glossaryId: string;
  /** Texts that people wrote about it: none may be left. */
  readonly words: readonly string[];
  readonly ids: readonly string[];
}

onEveryGateway({ config: { admin: { token: TOKEN }, plans: PLANS, engine: { timeout_ms: 20_000 } } }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  const fileWith = writtenOnce();
  const cli = async (...args: string[]): Promise<Json> => {
    const where = ['--config', fileWith(JSON.stringify({ plans: PLANS })), '--store', setting.url];
    return parsed(await inProcess([...args, '--json', ...where])) as Json;
  };
  const ofCaller = (key: string, method: string, path: string, body?: object) => ask(setting, { method, path, key, body });
  const translate = (key: string, more: object = {}) =>
    ofCaller(key, 'POST', '/v1/translate', { text: ['four'], target_lang: 'DE', ...more });
  const metrics = async (): Promise<string> => (await request({ port: setting.gateway.opsPort, path: '/metrics' })).body;

  /** A team with everything that leaves traces. */
  async function lively(): Promise<Traces> {
    const mark = randomBytes(5).toString('hex');
    const word = (what: string): string => `${what}${mark}`;
    const headers = { 'Idempotency-Key': word('order') };
    const body = { name: word('Übersetzer-'), plan: 'prepaid', credit_minor: 50_000 };
    const { team_id: id } = await answered('createTeam', call('POST', '/teams', { body, headers }));
    const teamId = String(id);
    const keys: Json[] = [];
    for (const label of [word('label-a-'), word('label-b-')]) {
      keys.push(await answered('createKey', call('POST', `/teams/${teamId}/keys`, { body: { mode: 'live', label } })));
    }
    await answered(
      'updateTeam',
      call('PATCH', `/teams/${teamId}`, { body: { add_credit_minor: 5 }, headers: { 'Idempotency-Key': word('pay') } }),
    );
    await answered('updateTeam', call('PATCH', `/teams/${teamId}`, { body: { name: word('Renamed-'), reference: word('Kunde-') } }));
    await answered('updateTeam', call('PATCH', `/teams/${teamId}`, { body: { plan: 'pro' } }));
    const address = `2001:db8:${mark.slice(0, 3)}a:${mark.slice(3, 6)}b:${mark.slice(6, 9)}c::1`;
    const scopes = ['translate:text', 'glossaries:write', 'glossaries:read'];
    const limits = { characters: 500, requests_per_second: 50, allowed_addresses: ['127.0.0.1', address], scopes };
    await answered('updateKey', call('PATCH', `/keys/${String(keys[0]!['key_id'])}`, { body: limits }));
    const [key, other] = keys.map((one) => String(one['key'])) as [string, string];
    const small = { source_lang: 'EN', target_lang: 'DE', entries: { [word('term')]: word('translation') } };
    const made = await ofCaller(key, 'POST', '/v1/glossaries', { name: word('Terms-'), ...small });
    expect(made.status).toBe(201);
    const glossaryId = String((JSON.parse(made.body) as Json)['glossary_id']);
    const entries = Object.fromEntries(Array.from({ length: MANY_ENTRIES }, (_, i) => [`${word('many')}-${i}`, `${word('viele')}-${i}`]));
    expect((await ofCaller(key, 'POST', '/v1/glossaries', { ...small, name: word('Large-'), entries })).status).toBe(201);
    const gone = await ofCaller(key, 'POST', '/v1/glossaries', { name: word('Gone-'), ...small });
    await ofCaller(key, 'DELETE', `/v1/glossaries/${String((JSON.parse(gone.body) as Json)['glossary_id'])}`);
    expect((await translate(key, { source_lang: 'EN', glossary_id: glossaryId })).status).toBe(200);
    expect((await translate(other)).status).toBe(200);
    await expect.poll(async () => stored(await setting.gateway.store.teams.usage(teamId))!.characters).toBe(8);
    await answered('revokeKey', call('POST', `/keys/${String(keys[1]!['key_id'])}/revoke`));
    const digests = [key, other].map((one) => digestOf(one));
    return {
      teamId,
      keyIds: keys.map((one) => String(one['key_id'])),
      key,
      glossaryId,
      words: [mark, key.slice(0, 12), other.slice(0, 12), canonicalRange(address)!.split('/', 1)[0]!, ...digests],
      ids: [teamId, glossaryId, ...keys.map((one) => String(one['key_id']))],
    };
  }

  /** Ids may remain in the audit log, whose entries show that there was a team, and so in the bytes of its file. */
  const isAudit = (place: string): boolean => / in (?:table records \(audit|key lingate:\S*audit|the bytes of )/.test(place);

  describe('a deleted team', () => {
    test('leaves nothing in the whole store, in the log and in the metrics; another team keeps everything', async () => {
      const [stays, goes] = [await lively(), await lively()];
      const before = await locationsOf(setting.url, [...goes.words, ...goes.ids]);
      expect(before.length).toBeGreaterThan(8);
      const status = (await call('DELETE', `/teams/${goes.teamId}?keep_usage=false`)).status;
      expect(status).toBe(204);
      expect(await locationsOf(setting.url, goes.words)).toEqual([]);
      expect((await locationsOf(setting.url, goes.ids)).filter((place) => !isAudit(place))).toEqual([]);
      expectProblem(await translate(goes.key), 'unauthorized');
      expectProblem(await call('DELETE', `/teams/${goes.teamId}`), 'not_found');
      expect(setting.gateway.logLines.filter((line) => goes.words.some((word) => line.includes(word)))).toEqual([]);
      const shown = await metrics();
      expect(goes.words.filter((word) => shown.includes(word))).toEqual([]);
      expect((await translate(stays.key, { source_lang: 'EN', glossary_id: stays.glossaryId })).status).toBe(200);
      expect(await answered('showTeam', call('GET', `/teams/${stays.teamId}`))).toMatchObject({ plan: 'pro' });
    });

    test('leaves days and periods without names if they are kept, until it is deleted without them', async () => {
      const goes = await lively();
      expect(await cli('team', 'delete', goes.teamId, '--yes')).toEqual({
        team_id: goes.teamId,
        status: 'deleted',
        kept_usage: true,
      });
      expectProblem(await translate(goes.key), 'unauthorized');
      expect(await locationsOf(setting.url, goes.words)).toEqual([]);
      expectProblem(await call('GET', `/teams/${goes.teamId}`), 'not_found');
      const path = `/usage?from=${FROM}&to=${TO}&by=total&keys=true&team=${goes.teamId}`;
      const { usage } = await answered('listUsage', call('GET', path));
      expect(usage).toMatchObject(
        goes.keyIds.map((key_id) => ({ team_id: goes.teamId, name: '', key_id, display: '', label: '', character_count: 4 })),
      );
      const { periods } = await answered('listPeriods', call('GET', `/teams/${goes.teamId}/periods`));
      expect(periods).toMatchObject([{ closed: true, character_count: 8 }]);
      expect(await cli('team', 'delete', goes.teamId, '--erase-usage', '--yes')).toMatchObject({ status: 'deleted', kept_usage: false });
      expect((await locationsOf(setting.url, [...goes.words, ...goes.ids])).filter((place) => !isAudit(place))).toEqual([]);
      expectProblem(await call('GET', `/teams/${goes.teamId}/periods`), 'not_found');
    });

    test('is refused to its callers on every front, and requests in flight are answered and charged to nobody', async () => {
      const { teamId, key } = await setting.gateway.team();
      expect((await translate(key)).status).toBe(200);
      let underWay: ReturnType<typeof translate>;
      const body = JSON.stringify({ translations: [{ text: 'vier', detected_source_language: 'EN' }] });
      const answer = await new Promise<() => void>((asked) => {
        setting.engine.behave((_request, response) => asked(() => void response.writeHead(200).end(body)));
        underWay = translate(key);
      });
      expect(await cli('team', 'delete', teamId, '--erase-usage', '--yes')).toMatchObject({ team_id: teamId });
      answer();
      expect((await underWay!).status).toBe(200);
      for (const path of ['/v1/usage', '/v1/languages', '/v1/glossaries']) expectProblem(await ofCaller(key, 'GET', path), 'unauthorized');
      expectProblem(await translate(key), 'unauthorized');
      expect((await locationsOf(setting.url, [teamId])).filter((place) => !isAudit(place))).toEqual([]);
    });
  });
});
