// Downloads over real sockets that break off, overlap, or go on while their document is deleted: each is whole, and none is charged.
import { expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { DocumentCaller } from '../../support/document-caller.ts';
import { expectProblem, onEveryGateway } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { HeldDownload, UNREAD_BYTES } from '../../support/held-download.ts';

const documents = { secret: 'a secret of the tests that is long enough' };
/** Long, with little to translate. */
const file = `WEBVTT\n\nNOTE ${'x'.repeat(UNREAD_BYTES)}\n\n00:01.000 --> 00:02.000\nHello\n`;
const LENGTH = file.length + '[DE] '.length;
const CHARACTERS = 'Hello'.length;

onEveryGateway({ config: { documents } }, (setting) => {
  let team: TestTeam;
  let id: string;

  const used = async (): Promise<number> => answered(await setting.gateway.store.teams.usage(team.teamId))!.characters;
  const begin = (): Promise<HeldDownload> => {
    const headers = { authorization: `Bearer ${team.key}` };
    return HeldDownload.begin({ port: setting.gateway.port, path: `/v1/documents/${id}/result`, headers });
  };
  test('they may break off, overlap and outlast the document', async () => {
    team = await setting.gateway.team();
    const caller = new DocumentCaller(setting.gateway.port, team.key);
    id = await caller.uploaded({ file, fileName: 'a.vtt' });
    await caller.reached(id, 'done');
    expect(await used()).toBe(CHARACTERS);
    (await begin()).leave();
    const [first, second] = [await begin(), await begin()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await caller.remove(id)).status).toBe(204);
    expectProblem(await caller.state(id), 'document_not_found');
    expectProblem(await caller.result(id), 'document_not_found');
    expect([await first.finish(), await second.finish()]).toEqual([LENGTH, LENGTH]);
    const { records } = setting.gateway.store;
    expect(answered(await records.list(team.teamId, 'documents')).size).toBe(0);
    expect(await used()).toBe(CHARACTERS);
  });
});
