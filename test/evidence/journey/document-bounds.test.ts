// What one team or address can take from others: bytes in the store, places for uploads, and time.
import { expect, test } from 'vitest';
import { DocumentCaller } from '../../support/document-caller.ts';
import { expectProblem, onEveryGateway, onOneGateway } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { RawConnection, requestBytes } from '../../support/raw-http.ts';

const config = {
  plans: { test: { ...QUOTA_PLAN, document_bytes: 5000 } },
  plugins: [{ module: 'lingate/plugins/libretranslate' }],
  documents: { secret: 'a secret of the tests that is long enough' },
};
const SILENT_MS = 2000;

onEveryGateway({ config }, (setting) => {
  test("a team's files have the bytes of its plan, in whatever state they are", async () => {
    const team = await setting.gateway.team();
    const caller = new DocumentCaller(setting.gateway.port, team.key);
    const file = `Dear all\n\n${'1'.repeat(3000)}\n`;
    const id = await caller.uploaded({ file });
    expectProblem(await caller.upload({ file }), 'rate_limited', { limit: 5000 });
    await caller.reached(id, 'done');
    expectProblem(await caller.upload({ file }), 'rate_limited', { limit: 5000 });
    const other = await setting.gateway.team();
    await new DocumentCaller(setting.gateway.port, other.key).uploaded({ file });
    expect((await caller.remove(id)).status).toBe(204);
    await caller.uploaded({ file });
  });
});

// Places are a process's own, whatever its store.
onOneGateway({ config }, (setting) => {
  const opened = async (path: string, headers: Readonly<Record<string, string>>): Promise<RawConnection> => {
    const connection = await RawConnection.open({ port: setting.gateway.port });
    const form = { ...headers, 'content-type': 'multipart/form-data; boundary=x', 'content-length': '100000' };
    connection.send(Buffer.concat([requestBytes({ method: 'POST', path, headers: form }), Buffer.from('--x\r\n')]));
    return connection;
  };

  test('a team that sends slowly has a quarter of the places, and loses them', { timeout: 60_000 }, async () => {
    const [slow, quick] = [await setting.gateway.team(), await setting.gateway.team()];
    const uploads = await Promise.all(Array.from({ length: 6 }, () => opened('/v1/documents', { authorization: `Bearer ${slow.key}` })));
    // Never silent for as long as a listener waits.
    const dripping = setInterval(() => uploads.forEach((upload) => upload.send(Buffer.from('x'))), SILENT_MS);
    const answers = Promise.all(uploads.map(async (upload) => (await upload.response()).status));
    await expect.poll(async () => (await new DocumentCaller(setting.gateway.port, slow.key).upload({ file: 'Dear all' })).status).toBe(503);
    await new DocumentCaller(setting.gateway.port, quick.key).uploaded({ file: 'Dear all' });
    // Two had no place; the others were too slow.
    expect((await answers).toSorted((a, b) => a - b)).toEqual([400, 400, 400, 400, 503, 503]);
    clearInterval(dripping);
    await new DocumentCaller(setting.gateway.port, slow.key).uploaded({ file: 'Dear all' });
  });

  test('an address without a known key has two places for forms that have the key, and loses them', { timeout: 60_000 }, async () => {
    const uploads = await Promise.all(Array.from({ length: 4 }, () => opened('/translate_file', {})));
    const dripping = setInterval(() => uploads.forEach((upload) => upload.send(Buffer.from('x'))), SILENT_MS);
    const answers = await Promise.all(uploads.map(async (upload) => (await upload.response()).status));
    clearInterval(dripping);
    expect(answers.toSorted((a, b) => a - b)).toEqual([400, 400, 503, 503]);
  });
});
