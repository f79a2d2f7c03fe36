// The Grafana dashboard queries only metrics, labels and label values that a real gateway has.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CREDIT_PLAN, makeTeam, QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { AZURE, DEEPL, GOOGLE, LIBRETRANSLATE, V1 } from '../../support/fronts.ts';
import { manualSection } from '../../support/manual.ts';
import { openBeside } from '../../support/store-place.ts';

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

/** A metric in a query, with its labels and the values that they are compared with. */
interface Use {
  readonly metric: string;
  readonly labels: readonly (readonly [name: string, operator: string, value: string])[];
}

/** Labels that the scraper adds. */
const SCRAPED = ['job'];

let gateway: TestGateway;
let engine: ScriptedEngine;
let folder: string;
let output: string;
let dashboard: Dashboard;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-dashboard-'));
  engine = await startScriptedEngine();
  // All teams count as near a limit, so that every series of teams exists.
  const team_metrics = { every_seconds: 1, quota_used_percent: 1, credit_characters: 1_000_000, key_unused_days: 1 };
  const events = { url: 'http://127.0.0.1:1/', secret: `whsec_${'A'.repeat(43)}=` };
  const store = `sqlite:${folder}/lingate.db`;
  await neglectedKey(store);
  gateway = await startGateway({
    store,
    engineUrls: [engine.url],
    config: {
      engine: { urls: [engine.url], characters: { per: 'month', most: 1_000_000 } },
      documents: { secret: 'a secret of the tests that is long enough' },
      team_metrics,
      events,
    },
  });
  await gateway.team(CREDIT_PLAN, 1);
  const { key } = await gateway.team({ ...QUOTA_PLAN, characters: 10 });
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/translate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: '{"text":["a"],"target_lang":"DE"}',
  });
  expect(response.status).toBe(200);
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${gateway.opsPort}/metrics`)).text();
  await vi.waitUntil(async () => /lingate_team_quota_used_ratio\{/.test((output = await metrics())), { timeout: 60_000, interval: 100 });
  dashboard = JSON.parse(await readFile(new URL('../../../config/grafana-dashboard.json', import.meta.url), 'utf8')) as Dashboard;
});

afterAll(async () => {
  await gateway.stop();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

async function neglectedKey(url: string): Promise<void> {
  const longAgo = await openBeside(url, { nowMs: () => Date.now() - 3 * 86_400_000 });
  await makeTeam(longAgo);
  await longAgo.close();
}

function usesIn(expr: string): Use[] {
  return [...expr.matchAll(/\b(lingate_[a-z_]+)(?:\{([^}]*)\})?/g)].map((match) => ({
    metric: match[1]!,
    labels: [...(match[2] ?? '').matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)].map((label) => [label[1]!, label[2]!, label[3]!] as const),
  }));
}

/** The labels that a query groups by. */
function groupedBy(expr: string): string[] {
  return [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(',').map((name) => name.trim()));
}

function samplesOf(metric: string): string[] {
  return output.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
}

/** A pattern matches the whole value, as in Prometheus. */
function hasValue(line: string, name: string, pattern: string): boolean {
  const value = new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1];
  return value !== undefined && new RegExp(`^(?:${pattern})$`).test(value);
}

test('the manual lists every metric of a gateway', () => {
  const listed = [...manualSection('watching', 'Metrics').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const shown = [...output.matchAll(/^# TYPE (lingate_\w+) /gm)].map(([, name]) => name!);
  expect(shown.length).toBeGreaterThan(40);
  expect(shown.filter((name) => !/^lingate_(?:process|nodejs)_/.test(name) && !listed.includes(name))).toEqual([]);
});

describe('the dashboard', () => {
  test('has panels, and every query has one of our metrics', () => {
    expect(dashboard.panels.length).toBeGreaterThanOrEqual(24);
    const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.filter((expr) => usesIn(expr).length === 0)).toEqual([]);
  });

  test('every metric, label and value in its queries is in the real output', () => {
    const missing: string[] = [];
    for (const { title, targets } of dashboard.panels) {
      for (const { expr } of targets) {
        for (const { metric, labels } of usesIn(expr)) {
          const samples = samplesOf(metric);
          if (samples.length === 0) missing.push(`${title}: there is no ${metric}`);
          for (const name of [...labels.map(([label]) => label), ...groupedBy(expr)]) {
            if (!SCRAPED.includes(name) && !samples.some((line) => line.includes(`${name}="`)))
              missing.push(`${title}: ${metric} has no label ${name}`);
          }
          for (const [name, operator, value] of labels) {
            if (SCRAPED.includes(name) || operator === '!=') continue;
            for (const one of operator === '=~' && !value.includes('(') ? value.split('|') : [value]) {
              if (!samples.some((line) => hasValue(line, name, one))) missing.push(`${title}: ${metric} is never ${name}="${one}"`);
            }
          }
        }
      }
    }
    expect(missing).toEqual([]);
  });

  test('its panels of translations show those of every API, and nothing else', () => {
    const patterns = dashboard.panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) =>
        usesIn(expr).flatMap(({ labels }) => labels.filter(([name, operator]) => name === 'route' && operator === '=~')),
      ),
    );
    expect(patterns.length).toBeGreaterThan(0);
    const translates = (route: string): boolean => patterns.every(([, , pattern]) => new RegExp(`^(?:${pattern})$`).test(route));
    const routes = [V1, DEEPL, LIBRETRANSLATE, AZURE, GOOGLE].map((front) => {
      const { method, path } = front.translation('key', ['a']);
      return `${method} ${path.split('?')[0]!}`;
    });
    expect(routes.filter((route) => !translates(route))).toEqual([]);
    const others = ['GET /v1/languages', 'POST /detect', 'POST /translator/text/v3.0/detect', 'GET /language/translate/v2/languages'];
    expect(others.filter(translates)).toEqual([]);
  });
});
