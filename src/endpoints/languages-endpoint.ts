// GET /v1/languages: the sources and targets that are offered.
import type { Exchange } from '../core/exchange.ts';
import { json } from '../core/outcome.ts';
import type { Outcome } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/step.ts';
import type { Languages } from '../domain/languages.ts';

const BAD_TYPE = refuse('validation_error', 'type: must be source or target.');
const BAD_QUERY = refuse('validation_error', 'Unknown query parameter. The only parameter is type, given once.');

interface Answers {
  readonly source: Outcome;
  readonly target: Outcome;
}

/** `languages` returns those that the team can reach. */
export function languagesEndpoint(languages: (x: Exchange) => Languages): BodyStep {
  // Rendered once per list, not per request; a reload can replace the list.
  const rendered = new WeakMap<Languages, Answers>();
  return {
    kind: 'body',
    name: 'languages',
    run(x) {
      const current = languages(x);
      let answers = rendered.get(current);
      if (answers === undefined) rendered.set(current, (answers = render(current)));
      const type = typeOf(x.head.query);
      if (type === 'source' || type === 'target') return answers[type];
      return type === undefined ? BAD_QUERY : BAD_TYPE;
    },
  };
}

/** The value of `type` (`source` by default); `undefined` if there is any other parameter. */
function typeOf(query: string): string | undefined {
  if (query === '') return 'source';
  // With a `?` in front, because URLSearchParams drops a leading one, which would otherwise be one that belongs to the query.
  const parameters = [...new URLSearchParams(`?${query}`)];
  if (parameters.length !== 1 || parameters[0]![0] !== 'type') return undefined;
  return parameters[0]![1];
}

function render(languages: Languages): Answers {
  const source = languages.sources.map(({ code, name }) => ({ language: code, name }));
  const target = languages.targets.map(({ code, name, formality }) => ({ language: code, name, supports_formality: formality }));
  return { source: json(JSON.stringify(source)), target: json(JSON.stringify(target)) };
}
