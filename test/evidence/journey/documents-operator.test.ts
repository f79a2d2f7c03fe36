// Documents as operators see them: admin API, command line and console show the same, and neither names nor texts.
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test, vi } from 'vitest';
import { answered as stored } from '../../../src/index.ts';
import { adminClient } from '../../support/admin-client.ts';
import type { Json } from '../../support/admin-client.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { DocumentCaller } from '../../support/document-caller.ts';
import { onOneGateway } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';

const TOKEN = randomBytes(24).toString('hex');
const config = { admin: { token: TOKEN }, documents: { secret: 'a secret of the tests that is long enough' } };
/** In names and texts of files. */
const PRIVATE = 'Kaltenbrunner';

onOneGateway({ config }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  let one: TestTeam;
  let other: TestTeam;
  /** By what they have become. */
  const ids: Record<'done' | 'error' | 'downloaded' | 'waiting', string> = { done: '', error: '', downloaded: '', waiting: '' };

  beforeAll(async () => {
    [one, other] = [await setting.gateway.team(), await setting.gateway.team()];
    stored(await setting.gateway.store.teams.updateTeam(other.teamId, { name: 'Other & Sons' }));
    const [ofOne, ofOther] = [one, other].map(({ key }) => new DocumentCaller(setting.gateway.port, key)) as [
      DocumentCaller,
      DocumentCaller,
    ];
    const fileName = `${PRIVATE}.txt`;
    ids.done = await ofOne.uploaded({ file: `To ${PRIVATE}`, fileName });
    await ofOne.reached(ids.done, 'done');
    // What the sender reads quotes the file.
    ids.error = await ofOne.uploaded({ file: `<meta charset="${PRIVATE}"><p>Hello`, fileName: `${PRIVATE}.html` });
    expect((await ofOne.reached(ids.error, 'error'))['detail']).toContain(PRIVATE.slice(0, 4));
    ids.downloaded = await ofOther.uploaded({ file: 'Dear all', fileName });
    await ofOther.reached(ids.downloaded, 'done');
    expect((await ofOther.result(ids.downloaded)).status).toBe(200);
    setting.engine.always('hang');
    ids.waiting = await ofOther.uploaded({ file: `From ${PRIVATE}`, fileName });
    // A download is charged after it was answered.
    await vi.waitFor(async () => expect(await reported(`?team=${other.teamId}&state=done`)).toMatchObject([{ downloaded: true }]), {
      timeout: 60_000,
    });
  });

  const pageOf = async (query: string): Promise<Json> => answered('listDocuments', call('GET', `/documents${query}`));
  const reported = async (query: string): Promise<Json[]> => (await pageOf(query))['documents'] as Json[];
  const idsOf = (documents: readonly Json[]): unknown[] => documents.map((document) => document['document_id']);
  const operator = (): Promise<ConsoleVisitor> => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);

  test('the admin API lists them, newest first, with team, key, format, bytes, characters and code', async () => {
    const documents = await reported('');
    expect(idsOf(documents)).toEqual([ids.waiting, ids.downloaded, ids.error, ids.done]);
    const [waiting, downloaded, error, done] = documents;
    expect(done).toMatchObject({
      team_id: one.teamId,
      team_name: 'Test',
      key_id: one.keyId,
      status: 'done',
      code: null,
      format: 'txt',
      bytes: `To ${PRIVATE}`.length,
      source_lang: null,
      target_lang: 'DE',
      character_count: `To ${PRIVATE}`.length,
      downloaded: false,
      ended_at: expect.stringMatching(/Z$/) as unknown,
    });
    expect(error).toMatchObject({ status: 'error', code: 'validation_error', format: 'html', character_count: null });
    expect(downloaded).toMatchObject({ team_name: 'Other & Sons', status: 'done', downloaded: true });
    expect(waiting).toMatchObject({ team_id: other.teamId, downloaded: false, ended_at: null });
    expect(['queued', 'translating']).toContain(waiting!['status']);
  });

  test('neither the name of a file nor its text is shown anywhere', async () => {
    expect(JSON.stringify(await pageOf(''))).not.toContain(PRIVATE.slice(0, 4));
    const visitor = await operator();
    for (const path of ['/console/documents', `/console/documents?team=${one.teamId}`, `/console/teams/${one.teamId}`]) {
      const { status, body } = await visitor.get(path);
      expect([path, status, body.includes(PRIVATE.slice(0, 4))]).toEqual([path, 200, false]);
    }
    expect(setting.gateway.logLines.filter((line) => line.includes(PRIVATE.slice(0, 4)))).toEqual([]);
  });

  test('a team’s page leads to its documents, which name their key', async () => {
    const visitor = await operator();
    const team = (await visitor.get(`/console/teams/${other.teamId}`)).body;
    expect(team).toContain(`href="/console/documents?team=${other.teamId}"`);
    const page = (await visitor.get(`/console/documents?team=${other.teamId}`)).body;
    expect(page).toContain('Other &amp; Sons');
    expect(page).toContain(`/console/teams/${other.teamId}/keys/${other.keyId}`);
  });
});
