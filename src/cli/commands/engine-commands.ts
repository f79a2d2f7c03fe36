// lingate engine check and route: whether each replica can translate, and which engine a request would go to, and why.
import type { CheckedPair, ReplicaReport, RouteQuestion, RouteReport } from '../../app/check-replicas.ts';
import type { Config } from '../../config/config.ts';
import { lackText } from '../../domain/engine-offer.ts';
import type { ExplainedEngine } from '../../domain/engine-offer.ts';
import { Languages } from '../../domain/languages.ts';
import { FORMALITIES } from '../../domain/translate-request.ts';
import { NOTHING_CHOSEN } from '../../domain/translation-options.ts';
import type { TextFormat } from '../../domain/translation-options.ts';
import { CommandFailure, ENGINE_FLAGS, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { textTable } from '../text-table.ts';

/** How much of the engine's output is shown to people, in UTF-16 units. */
const SHOWN_UNITS_MAX = 200;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

export const engineCheck: Command = {
  usage: '[--from CODE] [--to CODE] [--engine-url URL]... [--engine-protocol NAME]',
  about: 'Exits with 1 if a replica cannot translate. Makes one attempt at each replica; needs neither store nor gateway.',
  flags: {
    from: { kind: 'text', value: 'CODE', summary: 'language of the sentence', fallback: 'EN, or one that is offered' },
    to: { kind: 'text', value: 'CODE', summary: 'language to translate it to', fallback: 'DE, or one that is offered' },
    ...ENGINE_FLAGS,
  },
  examples: ['lingate engine check', 'lingate engine check --from EN --to ES --json'],
  async run(context) {
    const config = await context.config();
    const pair = pairOf(context, config);
    // Loaded late, because it loads the engine client.
    const { checkReplicas } = await import('../../app/check-replicas.ts');
    const replicas = await checkReplicas(config, context.io.env, pair);
    context.print({ replicas }, () =>
      replicas.map((report) => `${config.engines.length > 1 ? `${report.engine}, ` : ''}${replicaText(report)}`).join('\n'),
    );
    const failed = replicas.filter(({ ok }) => !ok).length;
    if (failed > 0)
      throw new CommandFailure(`${failed} of ${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'} cannot translate`);
  },
};

/** What was given. */
function pairOf(context: CommandContext, { languages: table }: Config): Partial<CheckedPair> {
  const languages = new Languages(table);
  const read = (
    flag: 'from' | 'to',
    find: (code: string) => string | undefined,
    side: string,
    all: readonly { readonly code: string }[],
  ) => {
    const code = context.text(flag);
    const found = code === undefined ? undefined : find(code);
    if (code === undefined || found !== undefined) return found;
    const codes = all.map((one) => one.code).join(', ');
    throw new UsageError(`--${flag}: ${JSON.stringify(code)} is not a ${side} language; the ${side} languages are ${codes}`);
  };
  return {
    sourceLang: read('from', (code) => languages.source(code), 'source', table.sources),
    targetLang: read('to', (code) => targetOf(languages, code), 'target', table.targets),
  };
}

/** For a base code, its first variant. */
function targetOf(languages: Languages, code: string): string | undefined {
  return languages.target(code) ?? languages.targets.find((target) => target.code.startsWith(`${code.toUpperCase()}-`))?.code;
}

function replicaText(report: ReplicaReport): string {
  if (!report.ok) {
    const { failure, status } = report;
    const what = status === undefined ? failure : failure === 'status' ? `status ${status}` : `${failure} (status ${status})`;
    return `${report.url}: fails with ${what}. ${report.advice}`;
  }
  const id = report.echoes_id ? '; it repeats the request id' : '';
  return `${report.url}: translates in ${report.ms} ms${id}: ${shown(report.text)}`;
}

/** The engine's text must not contain control sequences for the terminal. */
function shown(text: string): string {
  return text.slice(0, SHOWN_UNITS_MAX).toWellFormed().replace(UNPRINTABLE, '\u{FFFD}');
}

const FORMATS: readonly TextFormat[] = ['text', 'html', 'xml'];

/** Why an engine gets no attempt. */
function reasonText(because: NonNullable<ExplainedEngine['because']>): string {
  if (because === 'rule') return 'left out: the rule does not name it';
  if (because === 'behind') return 'not reached: the two attempts go to engines before it';
  return `left out: ${because === 'pair' ? 'does not offer the pair' : lackText(because)}`;
}

export const engineRoute: Command = {
  usage: '--to CODE [--from CODE] [--plan PLAN] [--formality VALUE] [--format FORMAT] [--glossary]',
  about: 'Exits with 1 if there is none. Asks the engines that can report their pairs; needs neither store nor gateway.',
  flags: {
    to: { kind: 'text', value: 'CODE', summary: 'target language', required: true },
    from: { kind: 'text', value: 'CODE', summary: 'source language', fallback: 'none' },
    plan: { kind: 'text', value: 'PLAN', summary: "the team's plan", fallback: 'one that no rule names' },
    formality: { kind: 'text', value: 'VALUE', summary: FORMALITIES.join(', ') },
    format: { kind: 'text', value: 'FORMAT', summary: FORMATS.join(', '), fallback: 'text' },
    glossary: { kind: 'switch', summary: 'the request has a glossary' },
    ...ENGINE_FLAGS,
  },
  examples: ['lingate engine route --plan free --from EN --to DE', 'lingate engine route --from EN --to DE --formality more --json'],
  async run(context) {
    const config = await context.config();
    const question = questionOf(context, config);
    // Loaded late, because it loads the engine client.
    const { reportRoute } = await import('../../app/check-replicas.ts');
    const report = await reportRoute(config, context.io.env, question);
    const { sourceLang, targetLang, formality, format } = question.options;
    const asked = {
      plan: question.plan ?? null,
      from: sourceLang ?? null,
      to: targetLang,
      formality,
      format: format === 'text' ? undefined : format,
      glossary: question.hasGlossary || undefined,
    };
    const engines = report.engines.map(({ engine, attempt, because }) =>
      because === undefined ? { engine, chosen: true, attempt } : { engine, chosen: false, because },
    );
    context.print({ ...asked, rule: report.rule ?? null, engines, silent: report.silent }, () => routeText(report, config));
    if (!report.engines.some(({ attempt }) => attempt === 1)) throw new CommandFailure('no engine can handle it: callers get a 400');
  },
};

function questionOf(context: CommandContext, config: Config): RouteQuestion {
  const languages = new Languages(config.languages);
  const [plan, from, to] = [context.text('plan'), context.text('from'), context.required('to')];
  if (plan !== undefined && !config.plans.has(plan)) {
    throw new UsageError(`--plan: there is no plan ${JSON.stringify(plan)}; the plans are ${[...config.plans.keys()].join(', ')}`);
  }
  const sourceLang = from === undefined ? undefined : languages.source(from);
  if (from !== undefined && sourceLang === undefined) throw new UsageError(`--from: ${JSON.stringify(from)} is not a source language`);
  const targetLang = languages.target(to);
  if (targetLang === undefined) {
    const variants = config.languages.targets.map(({ code }) => code).filter((code) => code.startsWith(`${to.toUpperCase()}-`));
    const meant = variants.length === 0 ? '' : `; its variants are ${variants.join(', ')}`;
    throw new UsageError(`--to: ${JSON.stringify(to)} is not a target language${meant}`);
  }
  const hasGlossary = context.on('glossary');
  if (hasGlossary && sourceLang === undefined)
    throw new UsageError('--glossary: needs --from, as a request with a glossary needs source_lang');
  const formality = oneOf(context, 'formality', FORMALITIES);
  const format = oneOf(context, 'format', FORMATS) ?? 'text';
  return {
    plan,
    // The `prefer_` values and `default` exclude no engine.
    options: { ...NOTHING_CHOSEN, sourceLang, targetLang, formality: formality === 'default' ? undefined : formality, format },
    hasGlossary,
  };
}

function oneOf<T extends string>(context: CommandContext, flag: string, known: readonly T[]): T | undefined {
  const value = context.text(flag);
  if (value === undefined || known.includes(value as T)) return value as T | undefined;
  throw new UsageError(`--${flag}: ${JSON.stringify(value)} is not one of ${known.join(', ')}`);
}

function routeText({ rule, engines, silent }: RouteReport, { routing }: Config): string {
  const matching = rule === undefined ? 'No rule matches.' : `The rule routing.${rule} matches.`;
  const which = routing === undefined ? 'There are no rules: all engines in their order.' : matching;
  const second = engines.some(({ attempt }) => attempt === 2) ? '' : ', and 2 at another replica of it, if it has one';
  const rows = engines.map(({ engine, attempt, because }) => [
    engine,
    because === undefined ? `attempt ${attempt}${second}` : reasonText(because),
  ]);
  const unknown = silent.map((name) => `${name} did not report its pairs: until it does, every pair is allowed.`);
  return [which, textTable(['ENGINE', ''], rows), ...unknown].join('\n');
}
