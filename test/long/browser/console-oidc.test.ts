// Signing in to the console at a real OpenID provider, of another site, in a real browser: there and back, by groups, and out again.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import { freePort } from '../../support/free-port.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startRealProvider } from '../../support/real-provider.ts';
import type { RealProvider } from '../../support/real-provider.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import type { Look, Tab } from '../../support/tab.ts';

const HOUR_SECONDS = 3600;
const PEOPLE = { ada: ['lingate-admins', 'sales'], grace: ['sales'], eve: ['guests'] };

let browser: Browser;
let place: StorePlace;
let provider: RealProvider;
let gateway: TestGateway;
let consoleUrl: string;

beforeAll(async () => {
  browser = await startBrowser();
  place = await storePlace('sqlite');
  const port = await freePort();
  // Another site than the provider, whose host is an address.
  consoleUrl = `http://localhost:${port}`;
  provider = await startRealProvider(consoleUrl, PEOPLE);
  const oidc = {
    issuer: provider.issuer,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    roles: { manage: ['lingate-admins'], read: ['sales'] },
  };
  const admin = { token: randomBytes(24).toString('hex'), console_url: consoleUrl, oidc };
  const config = { ops: `127.0.0.1:${port}`, admin };
  gateway = await startGateway({ listener: 'node', store: place.url, engineUrls: ['http://127.0.0.1:9'], config });
});

afterAll(async () => {
  await gateway.stop();
  await provider.close();
  await place.remove();
  await browser.close();
});

const button = (words: string): string => `::-p-xpath(//button[normalize-space() = "${words}"])`;
const heading = (tab: Tab): Promise<string> => tab.read(`document.querySelector('h1').textContent`);
const path = (tab: Tab): Promise<string> => tab.read('location.pathname');

/** From the console's sign-in page to where the provider's answer leads, by what a person sees. */
async function signedIn(name: string, look: Look = {}): Promise<Tab> {
  const tab = await browser.newTab(look);
  await tab.goto(`${consoleUrl}/console`);
  expect(await path(tab)).toBe('/console/sign-in');
  await tab.follow(`::-p-xpath(//a[starts-with(normalize-space(), "Sign in with 127.0.0.1")])`);
  await tab.page.type('input[name=login]', name);
  await tab.page.type('input[name=password]', 'any');
  await tab.follow(button('Sign-in'));
  await tab.page.click(button('Continue'));
  return tab;
}

/** The console's own pages may not be refused anything by their policy; the provider's pages are not ours. */
const refusals = (tab: Tab): string[] =>
  tab.complaints.filter((words) => words.includes('Content Security Policy') && words.includes(consoleUrl));

test.each([
  ['with scripts', true],
  ['without scripts', false],
])('%s: the page after the provider leads into the console, and signing out ends both sessions', async (_how, scripts) => {
  const tab = await signedIn('ada', { scripts });
  await expect.poll(() => path(tab).catch(() => '')).toBe('/console');
  await expect.poll(() => heading(tab).catch(() => '')).toBe('Overview');
  await tab.goto(`${consoleUrl}/console/teams`);
  expect(await tab.read(`document.querySelector('a[href="/console/teams/new"]') !== null`)).toBe(true);
  await tab.goto(`${consoleUrl}/console/audit`);
  const entry = await tab.read<string>(`document.querySelector('tbody tr').innerText`);
  expect(entry).toMatch(/ada@example\.com@[\d.:a-f]+\s+signed in/);

  const [cookie] = (await tab.page.browserContext().cookies()).filter(({ name }) => name === 'lingate_console');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  expect(Math.abs(cookie!.expires - Date.now() / 1000 - HOUR_SECONDS)).toBeLessThan(300);

  await tab.page.click(button('Sign out'));
  await expect.poll(() => heading(tab).catch(() => '')).toMatch(/Do you want to sign-out/);
  await tab.follow(button('Yes, sign me out'));
  await expect.poll(() => path(tab).catch(() => '')).toBe('/console/sign-in');
  await tab.goto(`${consoleUrl}/console/teams`);
  expect(await path(tab)).toBe('/console/sign-in');
  // The provider asks who it is, as it would not while its session lasts.
  await tab.follow(`::-p-xpath(//a[starts-with(normalize-space(), "Sign in with 127.0.0.1")])`);
  expect(await tab.read(`document.querySelector('input[name=login]') !== null`)).toBe(true);
  expect(refusals(tab)).toEqual([]);
  await tab.close();
});
