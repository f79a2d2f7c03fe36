// lingate engine check and route: whether replicas translate; where a request would go, and why.
import type { ReplicaReport, RouteQuestion, RouteReport } from '../../app/check-replicas.ts';
import type { Config } from '../../config/config.ts';
import { FORMALITIES, NOTHING_CHOSEN, WANTS } from '../../domain/translation-options.ts';
import type { TextFormat } from '../../domain/translation-options.ts';
import type { ExplainedEngine } from '../../domain/engine-offer.ts';
import { Languages } from '../../domain/languages.ts';
import { CommandFailure, ENGINE_FLAGS, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { textTable } from '../printed.ts';

/** How much of the engine's output is shown to people, in UTF-16 units. */
const SHOWN_UNITS_MAX = 200;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

const engineCheck: Command = {
  name: 'engine check',
  summary: 'Lets each engine replica translate a sentence, and says what is wrong.',
  about: 'It makes one attempt at each replica and exits with 1 if one cannot translate. It needs neither store nor gateway.',
  flags: {
    from: { value: 'CODE', summary: 'language of the sentence', fallback: 'EN, or one that is offered' },
    to: { value: 'CODE', summary: 'language to translate it to', fallback: 'DE, or one that is offered' },
    ...ENGINE_FLAGS,
  },
  examples: ['lingate engine check', 'lingate engine check --from EN --to ES --json'],
  async run(context) {
    const config = await context.config();
    const pair = { sourceLang: languageOf(context, 'from', config, true), targetLang: languageOf(context, 'to', config, true) };
    // Loaded on demand, because it loads the engine client.
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

/** A language of the configuration. `takesBase`: a base code stands for its first variant. */
function languageOf(context: CommandContext, flag: 'from' | 'to', { languages: table }: Config, takesBase: boolean): string | undefined {
  const code = context.text(flag);
  if (code === undefined) return undefined;
  const [side, all] = flag === 'from' ? (['source', table.sources] as const) : (['target', table.targets] as const);
  const variants = all.filter((one) => one.code.startsWith(`${code.toUpperCase()}-`)).map((one) => one.code);
  const languages = new Languages(table);
  const found = (flag === 'from' ? languages.source(code) : languages.target(code)) ?? (takesBase ? variants[0] : undefined);
  if (found !== undefined) return found;
  const known =
    variants.length > 0 ? `its variants are ${variants.join(', ')}` : `the ${side} languages are ${all.map((one) => one.code).join(', ')}`;
  throw new UsageError(`--${flag}: ${JSON.stringify(code)} is not a ${side} language; ${known}`);
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

/** Why an engine gets no attempt. */
function reasonText(because: NonNullable<ExplainedEngine['because']>): string {
  if (because === 'rule') return 'left out: the rule does not name it';
  if (because === 'behind') return 'not reached: the two attempts go to engines before it';
  return `left out: ${because === 'pair' ? 'does not offer the pair' : WANTS[because].lack}`;
}

const engineRoute: Command = {
  name: 'engine route',
  summary: 'Says which engine a request would use, and why.',
  about: 'It exits with 1 if there is none. It asks engines for their pairs if they can report them, and needs neither store nor gateway.',
  flags: {
    to: { value: 'CODE', summary: 'target language', required: true },
    from: { value: 'CODE', summary: 'source language', fallback: 'none' },
    plan: { value: 'PLAN', summary: "the team's plan", fallback: 'one that no rule names' },
    formality: { value: 'VALUE', summary: 'how the reader is addressed', choices: FORMALITIES },
    format: { value: 'FORMAT', summary: 'the format of the text', choices: ['text', 'html', 'xml'], fallback: 'text' },
    glossary: { summary: 'the request has a glossary' },
    ...ENGINE_FLAGS,
  },
  examples: ['lingate engine route --plan free --from EN --to DE', 'lingate engine route --from EN --to DE --formality more --json'],
  async run(context) {
    const config = await context.config();
    const question = questionOf(context, config);
    // Loaded on demand, because it loads the engine client.
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
  const plan = context.text('plan');
  if (plan !== undefined && !config.plans.has(plan)) {
    throw new UsageError(`--plan: there is no plan ${JSON.stringify(plan)}; the plans are ${[...config.plans.keys()].join(', ')}`);
  }
  const sourceLang = languageOf(context, 'from', config, false);
  const targetLang = languageOf(context, 'to', config, false)!;
  const hasGlossary = context.on('glossary');
  if (hasGlossary && sourceLang === undefined)
    throw new UsageError('--glossary: needs --from, as a request with a glossary needs source_lang');
  const formality = context.text('formality');
  const format = (context.text('format') ?? 'text') as TextFormat;
  return {
    plan,
    // The `prefer_` values and `default` exclude no engine.
    options: { ...NOTHING_CHOSEN, sourceLang, targetLang, formality: formality === 'default' ? undefined : formality, format },
    hasGlossary,
  };
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

export const commands = [engineCheck, engineRoute];
