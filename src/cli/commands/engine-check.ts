// lingate engine check: has each replica of the engine translate one sentence, and says what is wrong with those that cannot.
import type { CheckedPair, ReplicaReport } from '../../app/check-replicas.ts';
import type { Config } from '../../config/config.ts';
import { Languages } from '../../domain/languages.ts';
import { CommandFailure, ENGINE_FLAGS, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';

/** How much of the engine's output is shown to people, in UTF-16 units. */
const SHOWN_UNITS_MAX = 200;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

export const engineCheck: Command = {
  name: 'engine check',
  summary: 'Has each replica translate one sentence, and says what is wrong with those that cannot.',
  usage: '[--from CODE] [--to CODE] [--engine-url URL]... [--engine-protocol NAME]',
  about: 'Exits with 1 if a replica cannot translate. Makes one attempt at each replica; needs neither store nor gateway.',
  flags: {
    from: { kind: 'text', value: 'CODE', summary: 'language of the sentence', fallback: 'EN' },
    to: { kind: 'text', value: 'CODE', summary: 'language to translate it to', fallback: 'DE' },
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
      replicas.map((report) => `${config.engines.length > 1 ? `${report.engine}, ` : ''}${textOf(report)}`).join('\n'),
    );
    const failed = replicas.filter(({ ok }) => !ok).length;
    if (failed > 0)
      throw new CommandFailure(`${failed} of ${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'} cannot translate`);
  },
};

function pairOf(context: CommandContext, { languages: table }: Config): CheckedPair {
  const languages = new Languages(table);
  const [from, to] = [context.text('from'), context.text('to')];
  const sourceLang = languages.source(from ?? 'EN') ?? (from === undefined ? table.sources[0]!.code : undefined);
  if (sourceLang === undefined)
    throw new UsageError(`--from: ${JSON.stringify(from)} is not a source language; there are ${codesOf(table.sources)}`);
  const targetLang = targetOf(languages, to ?? 'DE') ?? (to === undefined ? table.targets[0]!.code : undefined);
  if (targetLang === undefined)
    throw new UsageError(`--to: ${JSON.stringify(to)} is not a target language; there are ${codesOf(table.targets)}`);
  return { sourceLang, targetLang };
}

/** For a base code, its first variant. */
function targetOf(languages: Languages, code: string): string | undefined {
  return languages.target(code) ?? languages.targets.find((target) => target.code.startsWith(`${code.toUpperCase()}-`))?.code;
}

function codesOf(languages: readonly { readonly code: string }[]): string {
  return languages.map(({ code }) => code).join(', ');
}

function textOf(report: ReplicaReport): string {
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
