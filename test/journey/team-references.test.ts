// The operator's own word for a team, over both stores: given, found, changed and removed by the admin API and the console, and in
// each list, export and audit entry; a second team with the same one is made with a warning.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { onOneGateway, translateText } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';

const TOKEN = randomBytes(24).toString('hex');

onOneGateway({ config: { admin: { token: TOKEN }, plans: { pro: QUOTA_PLAN } } }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  const create = (name: string, reference?: string) =>
    answered('createTeam', call('POST', '/teams', { body: { name, plan: 'pro', ...(reference === undefined ? {} : { reference }) } }));
  const patch = (id: string, body: Json) => answered('updateTeam', call('PATCH', `/teams/${id}`, { body }));
  const search = async (text: string): Promise<unknown[]> => {
    const { teams } = await answered('listTeams', call('GET', `/teams?q=${encodeURIComponent(text)}`));
    return (teams as Json[]).map((team) => [team['team_id'], team['reference']]);
  };

  test('is in every answer, found by search, in the export and in the audit, and removed with null', async () => {
    const mark = randomBytes(4).toString('hex');
    const made = await create(`Shop ${mark}`, `  K-${mark} `);
    const id = String(made['team_id']);
    expect(made).toMatchObject({ reference: `K-${mark}` });
    expect(made).not.toHaveProperty('warnings');
    expect(await answered('showTeam', call('GET', `/teams/${id}`))).toMatchObject({ reference: `K-${mark}` });
    expect(await search(`k-${mark.toUpperCase()}`)).toEqual([[id, `K-${mark}`]]);
    const { key } = await answered('createKey', call('POST', `/teams/${id}/keys`, { body: { mode: 'live' } }));
    expect((await translateText(setting, String(key), 'hello')).status).toBe(200);
    await expect
      .poll(async () => (await answered('listUsage', call('GET', `/usage?by=total&team=${id}`)))['usage'])
      .toMatchObject([{ team_id: id, reference: `K-${mark}`, character_count: 5 }]);
    const csv = await call('GET', `/usage?by=total&team=${id}&format=csv`);
    expect(csv.body.split('\r\n')[1]).toMatch(new RegExp(`^${id},Shop ${mark},pro,,5,1,0,K-${mark}$`));
    expect(await patch(id, { reference: `L-${mark}` })).toMatchObject({ reference: `L-${mark}`, name: `Shop ${mark}` });
    expect([await search(`K-${mark}`), await search(`L-${mark}`)]).toEqual([[], [[id, `L-${mark}`]]]);
    expect(await patch(id, { reference: null })).not.toHaveProperty('reference');
    expect(await search(`L-${mark}`)).toEqual([]);
    const { entries } = await answered('listAudit', call('GET', `/audit?team=${id}`));
    const changes = (entries as Json[]).filter(({ action }) => action === 'updateTeam').map(({ before, after }) => [before, after]);
    expect(changes).toEqual([
      [{ reference: `L-${mark}` }, {}],
      [{ reference: `K-${mark}` }, { reference: `L-${mark}` }],
    ]);
  });

  test('a second team with the same name or reference is made, with a warning that names the first', async () => {
    const mark = randomBytes(4).toString('hex');
    const first = String((await create(`Twin ${mark}`, `T-${mark}`))['team_id']);
    const second = await create(`twin ${mark}`, `t-${mark}`);
    const named = `team ${first}, "Twin ${mark}", has the same`;
    expect(second).toMatchObject({ warnings: [`${named} name already.`, `${named} reference already.`] });
    const third = String((await create(`Other ${mark}`))['team_id']);
    expect(await patch(third, { reference: `T-${mark}` })).toMatchObject({ warnings: [`${named} reference already.`] });
    expect(await patch(third, { reference: `U-${mark}` })).not.toHaveProperty('warnings');
    expect(await patch(third, { name: `Twin ${mark}` })).toMatchObject({ warnings: [`${named} name already.`] });
  });

  test('the console gives, shows, finds and removes it, and warns of another team', async () => {
    const mark = randomBytes(4).toString('hex');
    const operator = await ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
    const first = await create(`First ${mark}`, `C-${mark}`);
    const seen = async (answer: { readonly status: number; header(name: string): string | undefined }): Promise<string> => {
      expect(answer.status).toBe(303);
      return (await operator.get(answer.header('location')!)).body;
    };
    const made = await operator.submit('/console/teams/new', '/console/teams', {
      name: `Shop ${mark}`,
      plan: 'pro',
      reference: `C-${mark}`,
    });
    const team = made.header('location')!.split('?')[0]!;
    expect(await seen(made)).toContain(`team ${String(first['team_id'])}, &quot;First ${mark}&quot;, has the same reference already.`);
    expect((await operator.get(team)).body).toContain(`reference C-${mark}`);
    const listed = (await operator.get(`/console/teams?q=c-${mark}`)).body;
    expect(listed.match(new RegExp(`C-${mark}`, 'g'))).toHaveLength(2);
    expect(await seen(await operator.submit(team, `${team}/reference`, { reference: `D-${mark}` }))).toContain(`is now D-${mark}.`);
    expect((await operator.submit(team, `${team}/reference`, { reference: 'x'.repeat(65) })).body).toContain('This is too long');
    expect(await seen(await operator.submit(team, `${team}/reference`, { reference: '' }))).toContain('The team has no reference now.');
    expect((await operator.get(team)).body).not.toContain(`D-${mark}`);
  });
});
