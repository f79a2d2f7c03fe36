// The console in a real browser as an operator uses it: with and without scripts, and by keyboard alone.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import { ConsoleTab } from '../../support/console-tab.ts';
import { ask, expectProblem, onOneGateway } from '../../support/every-gateway.ts';
import type { Look } from '../../support/tab.ts';

const TOKEN = randomBytes(24).toString('hex');

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
});
