// Downloads over real sockets that break off, last long, or overlap: what is charged, and when a document goes.
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

onEveryGateway({ once: true, config: { documents } }, (setting) => {
  let team: TestTeam;
  let id: string;

  const used = async (): Promise<number> => answered(await setting.gateway.store.teams.usage(team.teamId))!.characters;
  const begin = (): Promise<HeldDownload> => {
    const headers = { authorization: `Bearer ${team.key}` };
    return HeldDownload.begin({ port: setting.gateway.port, path: `/v1/documents/${id}/result`, headers });
  };
  const downloads = async (): Promise<number> => {
    const records = answered(await setting.gateway.store.records.list(team.teamId, 'documents'));
    const { downloads: open = [] } = JSON.parse(records.get(id)!) as { readonly downloads?: readonly unknown[] };
    return open.length;
  };

  test('broken off, it costs nothing; overlapping, once; deleted meanwhile, it is charged all the same', async () => {
    team = await setting.gateway.team();
    const caller = new DocumentCaller(setting.gateway.port, team.key);
    id = await caller.uploaded({ file, fileName: 'a.vtt' });
    await caller.reached(id, 'done');
    (await begin()).leave();
    await expect.poll(downloads).toBe(0);
    expect(await used()).toBe(0);

    const [first, second] = [await begin(), await begin()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await caller.remove(id)).status).toBe(204);
    expectProblem(await caller.state(id), 'document_not_found');
    expectProblem(await caller.result(id), 'document_not_found');
    expect(await used()).toBe(0);
    expect([await first.finish(), await second.finish()]).toEqual([LENGTH, LENGTH]);
    await expect.poll(used).toBe(CHARACTERS);
    const { records } = setting.gateway.store;
    await expect.poll(async () => answered(await records.list(team.teamId, 'documents')).size).toBe(0);
    expect(await used()).toBe(CHARACTERS);
  });
});
