// The console in a real browser, over both stores, as an operator uses it: with and without scripts, by keyboard alone, on a phone.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import { ConsoleTab } from '../../support/console-tab.ts';
import { ask, expectProblem, onOneGateway } from '../../support/every-gateway.ts';
import type { Look } from '../../support/tab.ts';

const TOKEN = randomBytes(24).toString('hex');
const SCRIPT = `<script>document.title='taken'</script>"'><img src=x onerror=alert(1)>`;

onOneGateway({ config: { admin: { token: TOKEN } } }, (setting) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser.close();
  });

  /** Runs what an operator does; there must be no errors, and no request to another host. */
  const operate = async (work: (operator: ConsoleTab) => Promise<void>, look: Look = {}): Promise<void> => {
    const operator = await ConsoleTab.signedIn(browser, setting.gateway.opsPort, TOKEN, look);
    await work(operator);
    expect(operator.tab.complaints).toEqual([]);
    expect(operator.tab.requestsBeyond(operator.origin)).toEqual([]);
    await operator.tab.close();
  };
  const newTeam = async (operator: ConsoleTab, name: string, plan: string): Promise<string> => {
    await operator.open('/console/teams/new');
    await operator.fill('Name', name);
    await operator.choose('Plan', plan);
    await operator.press('Create the team');
    return operator.path();
  };
  const translate = (key: string) =>
    ask(setting, { method: 'POST', path: '/v1/translate', key, body: { text: ['four'], target_lang: 'DE' } });

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s', (_how, scripts) => {
    test('a team is created, given a key and credit, its key is rotated step by step, and the revoked key is refused at once', async () => {
      const mark = randomBytes(4).toString('hex');
      await operate(
        async (operator) => {
          await operator.open('/console/teams');
          await operator.follow('New team');
          await operator.fill('Name', `Journey ${mark}`);
          await operator.choose('Plan', 'prepaid');
          await operator.press('Create the team');
          const team = await operator.path();
          expect(await operator.text()).toContain(`Journey ${mark}`);

          await operator.fill('Amount in EUR', '12.5');
          await operator.press('Change the credit');
          expect(await operator.text()).toContain('12.50 EUR has been added. The credit is now 12.50 EUR.');

          await operator.choose('Mode', 'test');
          await operator.fill('Label', 'backend');
          await operator.press('Create the key');
          const old = await operator.newKey();
          expect(old).toMatch(/^la_test_[A-Za-z0-9]{40}$/);
          expect((await translate(old)).status).toBe(200);
          await operator.open(team);
          expect(await operator.tab.read('document.documentElement.outerHTML')).not.toContain(old.slice(12));
          expect(await operator.text()).toMatch(/\d s ago/);

          await operator.follow(`Rotate ${old.slice(0, 12)}`);
          await operator.press('Create the new key');
          const next = await operator.newKey();
          expect(next).not.toBe(old);
          expect([(await translate(old)).status, (await translate(next)).status]).toEqual([200, 200]);
          await operator.follow('Check again');
          const current = `document.querySelector('[aria-current="step"] h2').textContent`;
          expect(await operator.tab.read(current)).toBe('Watch the old key until it is no longer used');
          await operator.follow(`Revoke ${old.slice(0, 12)}`);
          expect((await translate(old)).status).toBe(200);
          expect(await operator.text()).toContain('It is in use');
          await operator.press('Revoke the key');
          expect(await operator.text()).toContain('is revoked');
          expectProblem(await translate(old), 'key_revoked');
          expect((await translate(next)).status).toBe(200);

          await operator.open('/console/teams');
          await operator.fill('Name, reference, id or beginning of a key', mark.toUpperCase());
          await operator.press('Search');
          await operator.follow(`Journey ${mark}`);
          expect(await operator.path()).toBe(team);

          await operator.press('Sign out');
          expect(await operator.path()).toBe('/console/sign-in');
          await operator.open(team);
          expect(await operator.path()).toBe('/console/sign-in');
        },
        { scripts },
      );
    });
  });

  test('a key is created by keyboard alone, from the sign-in on, and the focus is always visible', async () => {
    const tab = await browser.newTab();
    await tab.close();
    await operate(async (operator) => {
      const mark = randomBytes(4).toString('hex');
      await operator.open('/console/teams');
      await operator.tabTo('Skip to the content');
      await operator.tab.page.keyboard.press('Enter');
      await operator.tabTo('New team');
      await operator.enter();
      await operator.tabTo('Name');
      await operator.type(`Keys ${mark}`);
      await operator.tabTo('Create the team');
      await operator.enter();
      await operator.tabTo('Label');
      await operator.type('by keyboard');
      await operator.enter();
      const key = await operator.newKey();
      expect((await translate(key)).status).toBe(200);
      await operator.tabTo(`Revoke ${key.slice(0, 12)}`);
      await operator.enter();
      await operator.tabTo('Revoke the key');
      await operator.enter();
      expectProblem(await translate(key), 'key_revoked');
      await operator.tabTo('Sign out');
      await operator.enter();
      expect(await operator.path()).toBe('/console/sign-in');
    });
  });

  test('a form that is impatiently sent twice acts once and still shows its result', async () => {
    await operate(async (operator) => {
      await newTeam(operator, 'Impatient', 'pro');
      await operator.fill('Label', 'once');
      const button = `::-p-xpath(//button[normalize-space() = "Create the key"])`;
      await Promise.all([operator.tab.page.waitForNavigation(), operator.tab.page.click(button, { count: 2 })]);
      await expect.poll(() => operator.tab.read('document.readyState')).toBe('complete');
      expect(await operator.newKey()).toMatch(/^la_live_/);
      expect(await operator.tab.read('document.querySelector("#keys + table").tBodies[0].rows.length')).toBe(1);
    });
  });

  test('a script in a name and in a label is text', async () => {
    await operate(async (operator) => {
      const team = await newTeam(operator, SCRIPT, 'pro');
      await operator.fill('Label', SCRIPT);
      await operator.press('Create the key');
      for (const page of [team, '/console/teams', `/console/teams?q=${encodeURIComponent(SCRIPT)}`]) {
        await operator.open(page);
        expect(await operator.text()).toContain(SCRIPT);
        expect(await operator.tab.read('document.title')).not.toBe('taken');
        expect(await operator.tab.read(`document.querySelectorAll('main img, main script').length`)).toBe(0);
      }
      await operator.open(team);
      for (const link of ['Rotate', 'Revoke']) {
        await operator.tab.follow(`::-p-xpath(//a[starts-with(normalize-space(), "${link}")])`);
        expect(await operator.text()).toContain(SCRIPT);
        await operator.open(team);
      }
    });
  });

  test('on a phone nothing is wider than the screen, and every figure keeps the name of its column', async () => {
    await operate(
      async (operator) => {
        const team = await newTeam(operator, `Phone ${'wide'.repeat(20)}`, 'prepaid');
        await operator.fill('Label', 'x'.repeat(60));
        await operator.press('Create the key');
        const fits = async (): Promise<void> => {
          const { path, over } = await operator.tab.read<{ path: string; over: number }>(
            `({ path: location.pathname, over: document.documentElement.scrollWidth - document.documentElement.clientWidth })`,
          );
          expect([path, over]).toEqual([path, 0]);
        };
        await fits();
        const rotate = await operator.tab.read<string>(`document.querySelector('td .links a').pathname`);
        for (const page of [team, rotate, rotate.replace(/rotate$/, 'revoke'), '/console/teams', '/console/teams/new']) {
          await operator.open(page);
          await fits();
        }
        await operator.open('/console/teams');
        expect(await operator.tab.read(`getComputedStyle(document.querySelector('tbody td'), '::before').content`)).toContain('Reference');
      },
      { width: 360, height: 740, scheme: 'dark' },
    );
  });

  test('a foreign page, even on this machine, can neither frame the console nor send its forms', async () => {
    const target = `http://127.0.0.1:${setting.gateway.opsPort}`;
    const name = `Forged ${randomBytes(4).toString('hex')}`;
    const foreign = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><title>x</title><link rel="icon" href="data:,"><iframe src="${target}/console/teams"></iframe>
        <form method="post" action="${target}/console/teams"><input name="name" value="${name}"><input name="plan" value="pro"><button>x</button></form>`);
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    try {
      const operator = await ConsoleTab.signedIn(browser, setting.gateway.opsPort, TOKEN);
      await operator.tab.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
      await expect.poll(() => operator.tab.complaints.join('\n')).toContain('frame-ancestors');
      await operator.press('x');
      expect(await operator.tab.read('document.body.innerText')).toContain('outside this console');
      await operator.open(`/console/teams?q=${encodeURIComponent(name)}`);
      expect(await operator.text()).toContain(`No team's name, reference or id contains “${name}”.`);
      await operator.tab.close();
    } finally {
      foreign.closeAllConnections();
      await new Promise((resolve) => foreign.close(resolve));
    }
  });
});
