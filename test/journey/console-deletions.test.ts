// Deleting in the console, over both stores: a team by typing its name, a glossary after a confirmation. Wrong, repeated or forged forms delete nothing.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { adminClient } from '../support/admin-client.ts';
import { ConsoleVisitor, hiddenFields } from '../support/console-visitor.ts';
import type { Fields } from '../support/console-visitor.ts';
import { ask, expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { untilOneDay } from '../support/one-day.ts';

const TOKEN = randomBytes(24).toString('hex');
await untilOneDay();
const MONTH = new Date().toISOString().slice(0, 7);

interface Lively {
  readonly teamId: string;
  readonly name: string;
  readonly key: string;
  /** Below `/console`. */
  readonly page: string;
}

onOneGateway({ config: { admin: { token: TOKEN }, plans: { pro: QUOTA_PLAN } } }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  const signedIn = () => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
  const makeTeam = async (name = `A & <b>${randomBytes(4).toString('hex')}</b>`): Promise<Lively> => {
    const teamId = String((await answered('createTeam', call('POST', '/teams', { body: { name, plan: 'pro' } })))['team_id']);
    const key = String((await answered('createKey', call('POST', `/teams/${teamId}/keys`, { body: { mode: 'live' } })))['key']);
    return { teamId, name, key, page: `/console/teams/${teamId}` };
  };
  const makeGlossary = async ({ key }: Lively, name: string): Promise<string> => {
    const body = { name, source_lang: 'EN', target_lang: 'DE', entries: { cat: 'Katze', dog: 'Hund' } };
    const made = await ask(setting, { method: 'POST', path: '/v1/glossaries', key, body });
    expect(made.status).toBe(201);
    return (JSON.parse(made.body) as { glossary_id: string }).glossary_id;
  };
  const stands = async ({ teamId, key }: Lively): Promise<void> => {
    expect((await call('GET', `/teams/${teamId}`)).status).toBe(200);
    expect((await translateText(setting, key, 'four')).status).toBe(200);
  };
  const seen = async (operator: ConsoleVisitor, answer: HttpResponse): Promise<string> => {
    expect([answer.status, answer.body]).toEqual([303, '']);
    return (await operator.get(answer.header('location')!)).body;
  };

  test('a team is deleted by its name, and sending the form twice gets the same answer', async () => {
    const operator = await signedIn();
    const team = await makeTeam();
    const form = await operator.get(`${team.page}/delete`);
    expect(form.body).not.toContain(team.name);
    const fields = { ...hiddenFields(form.body, `${team.page}/delete`), name: ` ${team.name} `, usage: 'delete' };
    const answers = await Promise.all([1, 2].map(() => operator.post(`${team.page}/delete`, fields)));
    answers.push(await operator.post(`${team.page}/delete`, fields));
    const pages = [];
    for (const answer of answers) pages.push(await seen(operator, answer));
    expect(pages.every((page) => page.includes(`Team ${team.teamId} is deleted.`))).toBe(true);
    expect(pages.filter((page) => page.includes('it took effect once'))).toHaveLength(2);
    expectProblem(await translateText(setting, team.key, 'four'), 'unauthorized');
    for (const path of ['', '/delete', '/glossaries']) {
      const gone = await operator.get(team.page + path);
      expect([path, gone.status, gone.body.includes('<code>not_found</code>')]).toEqual([path, 404, true]);
    }
    expect((await operator.get('/console/teams?q=A')).body).not.toContain(team.teamId);
  });

  test.each<[string, Fields, string]>([
    ['without the name', { name: '', usage: 'delete' }, 'This is not the name of the team.'],
    ['with its id', { name: 'ID', usage: 'delete' }, 'This is not the name of the team.'],
    ['with its name in other letters', { name: 'ACME ONE', usage: 'delete' }, 'This is not the name of the team.'],
    ['with a part of its name', { name: 'Acme', usage: 'keep' }, 'This is not the name of the team.'],
    ['without a choice about its usage', { name: 'Acme One' }, 'Choose one.'],
    ['with an unknown choice about it', { name: 'Acme One', usage: 'KEEP' }, 'Choose one.'],
  ])('a team is not deleted %s', async (_what, { name, ...more }, fault) => {
    const operator = await signedIn();
    const team = await makeTeam('Acme One');
    const typed = name === 'ID' ? team.teamId : name!;
    const answer = await operator.submit(`${team.page}/delete`, `${team.page}/delete`, { ...more, name: typed });
    expect([answer.status, answer.body.includes(fault), answer.body.includes('aria-invalid="true"')]).toEqual([400, true, true]);
    // What was typed and chosen stays there.
    expect(answer.body).toContain(`value="${typed}"`);
    if (more['usage'] === 'keep') expect(answer.body).toMatch(/<option value="keep"\s+selected>/);
    await stands(team);
  });

  test('a name is typed as it is displayed: white space within it does not matter', async () => {
    const operator = await signedIn();
    const team = await makeTeam('Two  spaces\u00a0`here`');
    expect((await operator.get(`${team.page}/delete`)).body).toContain('`here` to continue.');
    const fields = { name: 'Two spaces `here`', usage: 'delete' };
    expect((await operator.submit(`${team.page}/delete`, `${team.page}/delete`, fields)).status).toBe(303);
  });

  test('a team’s usage is kept if that was chosen, is shown without a link, and can be deleted by the id', async () => {
    const operator = await signedIn();
    const team = await makeTeam();
    await stands(team);
    // A charge follows its delivery; if the team is deleted by then, it is not made.
    const used = async (): Promise<unknown> => (await call('GET', `/teams/${team.teamId}/usage`)).json();
    await expect.poll(async () => JSON.stringify(await used())).toMatch(/"character_count":[1-9]/);
    const form = { name: team.name, usage: 'keep' };
    expect(await seen(operator, await operator.submit(`${team.page}/delete`, `${team.page}/delete`, form))).toContain(
      'its usage by day and period stays',
    );
    const shown = (await operator.get(`/console/usage?month=${MONTH}`)).body;
    expect(shown).toContain(`<code>${team.teamId}</code>`);
    expect(shown).not.toContain(`href="${team.page}"`);
    expect(shown).not.toMatch(/<a [^>]*>\s*<\/a>/);
  });

  test('a glossary is deleted after a confirmation, once; another team’s is not found', async () => {
    const operator = await signedIn();
    const [team, other] = [await makeTeam(), await makeTeam()];
    const [goes, stays] = [await makeGlossary(team, 'Goes <i>'), await makeGlossary(team, 'Stays')];
    const list = await operator.get(`${team.page}/glossaries`);
    expect(list.body).toContain('Goes &lt;i&gt;');
    expect(list.body).toContain('EN to DE');
    const path = `${team.page}/glossaries/${goes}/delete`;
    const question = (await operator.get(path)).body;
    expect(question).toContain('Its 2 entries are deleted');
    const fields = hiddenFields(question, path);
    for (const foreign of [`${other.page}/glossaries/${goes}/delete`, `${team.page}/glossaries/${other.teamId}/delete`]) {
      expect([(await operator.get(foreign)).status, (await operator.post(foreign, fields)).status]).toEqual([404, 404]);
    }
    const answers = [await operator.post(path, fields), await operator.post(path, fields)];
    const pages = [await seen(operator, answers[0]!), await seen(operator, answers[1]!)];
    expect(pages.map((page) => page.includes('it took effect once'))).toEqual([false, true]);
    for (const page of pages) {
      expect(page).toContain('Glossary Goes &lt;i&gt; is deleted.');
      expect([page.includes(goes), page.includes(stays)]).toEqual([false, true]);
    }
    expect((await operator.get(path)).status).toBe(404);
  });
});
