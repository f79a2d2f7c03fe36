// lingate engine route: which engine a request with a plan, a pair and a formality would go to, and why.
import type { RouteQuestion, RouteReport } from '../../app/explain-route.ts';
import type { Config } from '../../config/config.ts';
import type { ExplainedEngine } from '../../domain/engine-offer.ts';
import { Languages } from '../../domain/languages.ts';
import { FORMALITIES } from '../../domain/translate-request.ts';
import { NOTHING_CHOSEN } from '../../domain/translation-options.ts';
import type { TextFormat } from '../../domain/translation-options.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { textTable } from '../text-table.ts';

const FORMATS: readonly TextFormat[] = ['text', 'html', 'xml'];

const REASONS: Readonly<Record<NonNullable<ExplainedEngine['because']>, string>> = {
  rule: 'left out: the rule does not name it',
  behind: 'not reached: the two attempts go to engines before it',
  pair: 'left out: does not offer the pair',
  formality: 'left out: does not support formality',
  glossary: 'left out: takes no glossaries',
  html: 'left out: does not support html',
  xml: 'left out: does not support xml',
};

export const engineRoute: Command = {
  name: 'engine route',
  summary: 'Says which engine a request would go to, and why.',
  usage: '--to CODE [--from CODE] [--plan PLAN] [--formality VALUE] [--format FORMAT] [--glossary]',
  about: 'Exits with 1 if there is none. Asks the engines that can report their pairs; needs neither store nor gateway.',
  flags: {
    to: { kind: 'text', value: 'CODE', summary: 'target language', required: true },
    from: { kind: 'text', value: 'CODE', summary: 'source language', fallback: 'none' },
    plan: { kind: 'text', value: 'PLAN', summary: "the team's plan", fallback: 'one that no rule names' },
    formality: { kind: 'text', value: 'VALUE', summary: FORMALITIES.join(', ') },
    format: { kind: 'text', value: 'FORMAT', summary: FORMATS.join(', '), fallback: 'text' },
    glossary: { kind: 'switch', summary: 'the request has a glossary' },
  },
  examples: ['lingate engine route --plan free --from EN --to DE', 'lingate engine route --from EN --to DE --formality more --json'],
  async run(context) {
    const config = await context.config();
    const question = questionOf(context, config);
    // Loaded late, because it loads the engine client.
    const { reportRoute } = await import('../../app/explain-route.ts');
    const report = await reportRoute(config, context.io.env, question);
    const { sourceLang, targetLang, formality, format } = question.options;
    const asked = {
      plan: question.plan ?? null,
      from: sourceLang ?? null,
      to: targetLang,
      ...(formality === undefined ? {} : { formality }),
      ...(format === 'text' ? {} : { format }),
      ...(question.hasGlossary ? { glossary: true } : {}),
    };
    const engines = report.engines.map(({ engine, attempt, because }) =>
      because === undefined ? { engine, chosen: true, attempt } : { engine, chosen: false, because },
    );
    context.print({ ...asked, rule: report.rule ?? null, engines, silent: report.silent }, () => textOf(report, config));
    if (!report.engines.some(({ attempt }) => attempt === 1)) throw new CommandFailure('no engine can handle it: callers get a 400');
  },
};

function questionOf(context: CommandContext, config: Config): RouteQuestion {
  const languages = new Languages(config.languages);
  const [plan, from, to] = [context.text('plan'), context.text('from'), context.required('to')];
  if (plan !== undefined && !config.plans.has(plan)) {
    throw new UsageError(`--plan: there is no plan ${JSON.stringify(plan)}; there are ${[...config.plans.keys()].join(', ')}`);
  }
  const sourceLang = from === undefined ? undefined : languages.source(from);
  if (from !== undefined && sourceLang === undefined) throw new UsageError(`--from: ${JSON.stringify(from)} is not a source language`);
  const targetLang = languages.target(to);
  if (targetLang === undefined) {
    const variants = config.languages.targets.map(({ code }) => code).filter((code) => code.startsWith(`${to.toUpperCase()}-`));
    const meant = variants.length === 0 ? '' : `; there are ${variants.join(', ')}`;
    throw new UsageError(`--to: ${JSON.stringify(to)} is not a target language${meant}`);
  }
  const formality = oneOf(context, 'formality', FORMALITIES);
  const format = oneOf(context, 'format', FORMATS) ?? 'text';
  return {
    plan,
    // The `prefer_` values and `default` exclude no engine.
    options: { ...NOTHING_CHOSEN, sourceLang, targetLang, formality: formality === 'default' ? undefined : formality, format },
    hasGlossary: context.on('glossary'),
  };
}

function oneOf<T extends string>(context: CommandContext, flag: string, known: readonly T[]): T | undefined {
  const value = context.text(flag);
  if (value === undefined || known.includes(value as T)) return value as T | undefined;
  throw new UsageError(`--${flag}: ${JSON.stringify(value)} is not one of ${known.join(', ')}`);
}

function textOf({ rule, engines, silent }: RouteReport, { routing }: Config): string {
  const which = routing === undefined ? 'There are no rules: all engines in their order.' : ruleText(rule);
  const rows = engines.map(({ engine, attempt, because }) => [
    engine,
    because === undefined
      ? `attempt ${attempt}${alone(engines) ? ', and 2 at another replica of it, if it has one' : ''}`
      : REASONS[because],
  ]);
  const unknown = silent.map((name) => `${name} did not report its pairs: until it does, every pair is allowed.`);
  return [which, textTable(['ENGINE', ''], rows), ...unknown].join('\n');
}

function ruleText(rule: number | undefined): string {
  return rule === undefined ? 'No rule matches.' : `The rule routing.${rule} matches.`;
}

function alone(engines: RouteReport['engines']): boolean {
  return !engines.some(({ attempt }) => attempt === 2);
}
