// The error page lists the codes that this gateway can answer, and mentions a dashboard only if there is one.
import { expect, test } from 'vitest';
import { anchorOf, problems } from '../../../src/core/problem.ts';
import type { ProblemCode } from '../../../src/core/problem.ts';
import { errorsPage } from '../../../src/docs/errors-page.ts';
import type { ErrorsPageOptions } from '../../../src/docs/errors-page.ts';

const CODES = Object.keys(problems) as ProblemCode[];
const OF_THE_API = CODES.filter((code) => !problems[code].dashboardOnly);
const pageOf = (more: Partial<ErrorsPageOptions> = {}): string => errorsPage({ serviceName: 'lingate', docsUrl: 'http://docs', ...more });
const codesOn = (page: string): ProblemCode[] => CODES.filter((code) => page.includes(`<section id="${anchorOf(code)}"`));

test.each<[what: string, options: Partial<ErrorsPageOptions>, codes: readonly ProblemCode[], dashboard: boolean]>([
  ['neither console nor dashboard', {}, OF_THE_API, false],
  ['a console', { hasConsole: true }, [...OF_THE_API, 'csrf_invalid'], false],
  ['a dashboard', { dashboardUrl: 'https://app.example.com' }, CODES, true],
])('with %s', (_what, options, codes, dashboard) => {
  const page = pageOf(options);
  expect(codesOn(page).toSorted()).toEqual(codes.toSorted());
  // The list, the navigation and the sections have the same codes.
  for (const code of CODES) expect(page.includes(`<code>${code}</code>`), code).toBe(codes.includes(code));
  expect(/dashboard|checkout/i.test(page)).toBe(dashboard);
  expect(page.includes('href="https://app.example.com"')).toBe(dashboard);
});

test('the console’s codes are explained in its own words', () => {
  const page = pageOf({ hasConsole: true });
  expect(page).toContain('In the console: not signed in, the session has ended, or the form was sent from another site.');
  expect(page.match(/Only the console answers this/g)).toHaveLength(1);
});

test('a plugin’s own code has a section, with its words and an example', () => {
  const kind = {
    status: 503,
    title: 'Closed',
    meaning: 'The shop is closed.',
    retry: true,
    fields: [],
    mayHave: [],
    headers: ['Retry-After' as const],
    dashboardOnly: false,
  };
  const added = new Map([
    ['shop_closed', { plugin: 'shop', kind, advice: undefined }],
    ['shop_burnt', { plugin: 'shop', kind: { ...kind, status: 410, retry: false, headers: [] }, advice: 'Go elsewhere.' }],
  ]);
  const page = pageOf({ pluginApis: { problems: added } });
  expect(page).toContain('<section id="shop-closed"');
  expect(page).toContain('A code of the plugin <code>shop</code>.');
  expect(page).toContain('Go elsewhere.');
  expect(page.split('<section id="shop-closed"')[1]).toMatch(/Retry-After[^]*?http:\/\/docs\/errors#shop-closed/);
});
