// The sign-in by a provider is set up from the configuration, and says in a line what is missing.
import { expect, test } from 'vitest';
import { adviceOn } from '../../../src/app/config-advice.ts';
import { openOidc } from '../../../src/app/oidc-side.ts';
import { loaded } from '../../support/written-file.ts';

const OIDC = 'issuer: https://id.example.com, client_id: c, client_secret: { env: SECRET }, roles: { read: [sales] }';
const config = (more = ''): ReturnType<typeof loaded> =>
  loaded(`admin: { console_url: "https://c.example.com:8443/", oidc: { ${OIDC} }${more} }`);
const ENV = { SECRET: 'hidden' };

test('its settings have the defaults, the secret, and the console’s origin', async () => {
  expect((await openOidc(config(), ENV))!.settings).toEqual({
    issuer: 'https://id.example.com',
    clientId: 'c',
    clientSecret: 'hidden',
    scopes: ['email', 'profile'],
    roles: { manage: [], read: ['sales'] },
    groupsClaim: 'groups',
    nameClaim: 'email',
    consoleUrl: 'https://c.example.com:8443',
  });
});

test('a package or a secret that is missing is named; without the section nothing is loaded', async () => {
  const none = (): Promise<undefined> => Promise.resolve(undefined);
  await expect(openOidc(config(), ENV, none)).rejects.toThrow(
    /: admin\.oidc: needs the package openid-client, which is not installed; it must be beside Lingate: npm install openid-client$/,
  );
  await expect(openOidc(config(), {})).rejects.toThrow(/: admin\.oidc\.client_secret: the environment variable SECRET is not set$/);
  const never = (): Promise<undefined> => Promise.reject(new Error('loaded'));
  expect(await openOidc(loaded(`admin: { token: ${'t'.repeat(32)} }`), ENV, never)).toBeUndefined();
});

test('without a token beside it, the check gives advice', () => {
  expect(adviceOn(config())).toEqual([expect.stringContaining('nobody can sign in while the provider is away')]);
  expect(adviceOn(config(`, token: ${'t'.repeat(32)}`))).toEqual([]);
});
