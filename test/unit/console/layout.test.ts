// The frame of the console's pages: its navigation, and the manual's table of the pages that it leads to.
import { expect, test } from 'vitest';
import { page } from '../../../src/console/layout.ts';
import { html } from '../../../src/docs/html.ts';
import { manualSection } from '../../support/manual.ts';

test('the manual says of each section of the navigation what it is for, in the same order', () => {
  const operator = { name: 'ann', role: 'read', by: { kind: 'token', digest: Buffer.alloc(0) } } as const;
  const frame = { serviceName: 'lingate', visitor: { operator, formToken: 'token', gateway: 'one' }, notice: undefined };
  const shown = page({ title: 'Plans', section: 'plans', main: html`` }, frame);
  const sections = [...shown.matchAll(/<li><a href="[^"]*"[^>]*>([^<]*)<\/a>/g)].map(([, label]) => label);
  const rows = [...manualSection('watching', 'The console').matchAll(/^\| ([^|]+) \| \S/gm)].map(([, name]) => name);
  expect(sections).toContain('Invoices');
  expect(shown).toMatch(/ann, may only read,\s+at one/);
  expect(rows.filter((name) => sections.includes(name))).toEqual(sections);
});
