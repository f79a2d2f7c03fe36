// Real metrics as series on which promtool evaluates rules: one scrape a minute, however much time really passes.
import { rm, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './start-program.ts';

/** What a scrape adds, by gateway. */
const scraped = (gateway: number): string => `job="lingate",instance="gateway-${gateway + 1}:9090"`;
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;

/** The alerts expected to fire at a minute: their names, with the labels that distinguish them. */
export interface Moment {
  readonly minute: number;
  readonly firing: readonly Readonly<Record<string, string>>[];
}

/** The texts of `/metrics`, minute by minute. */
export class Timeline {
  readonly #series = new Map<string, (string | undefined)[]>();
  #minutes = 0;

  /** The scrape of the next minute. */
  get minute(): number {
    return this.#minutes;
  }

  /** What was scraped from each gateway, `undefined` if it did not answer. */
  add(...texts: readonly (string | undefined)[]): void {
    for (const [gateway, text] of texts.entries()) {
      this.#sample(`up{${scraped(gateway)}}`, text === undefined ? '0' : '1');
      for (const line of (text ?? '').split('\n')) {
        const [, name, labels, value] = SAMPLE.exec(line) ?? [];
        if (name === undefined || value === undefined || !name.startsWith('lingate_')) continue;
        this.#sample(`${name}{${scraped(gateway)}${labels === undefined ? '' : `,${labels}`}}`, value);
      }
    }
    this.#minutes++;
  }

  #sample(series: string, value: string): void {
    const values = this.#series.get(series) ?? [];
    values[this.#minutes] = value;
    this.#series.set(series, values);
  }

  /** In promtool's notation; only metrics whose names `rules` contains. */
  inputs(rules: string): { series: string; values: string }[] {
    return [...this.#series]
      .filter(([series]) => rules.includes(series.slice(0, series.indexOf('{'))))
      .map(([series, values]) => ({ series, values: this.#notation(values) }));
  }

  /** A series that is missing from a scrape is stale from then on, as in Prometheus. */
  #notation(values: readonly (string | undefined)[]): string {
    const minutes = Array.from({ length: this.#minutes }, (_, minute) => values[minute]);
    return minutes.map((value, minute) => value ?? (minutes[minute - 1] === undefined ? '_' : 'stale')).join(' ');
  }
}

/** Checks that exactly these alerts fire at these minutes, by the rules in this file; returns promtool's report if they do not. */
export async function checkAlerts(rulesFile: string, rules: string, timeline: Timeline, moments: readonly Moment[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-rules-'));
  const expectations = moments.map(({ minute, firing }) => ({
    expr: 'count by (alertname, engine, team_id, key_id) (ALERTS{alertstate="firing"})',
    eval_time: `${minute}m`,
    exp_samples: firing.map((labels) => ({
      labels: `{${Object.entries(labels)
        .map(([name, value]) => `${name}="${value}"`)
        .join(',')}}`,
      value: 1,
    })),
  }));
  const tests = [{ interval: '1m', input_series: timeline.inputs(rules), promql_expr_test: expectations }];
  const file = join(folder, 'tests.yaml');
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = await runProgram('promtool', ['test', 'rules', file]);
  await rm(folder, { recursive: true, force: true });
  return status === 0 ? '' : `${stdout}${stderr}`;
}
