// Commands in hints as they are typed where they are printed: by npm in a checkout, by npx beside a package, else as they stand.
import type { Environment } from '../config/overrides.ts';

/** In quotes or behind a colon: not the title of an error, which names the command that failed. */
const HINT =
  /(?<="|: |^ {2})lingate (?=(?:serve|demo|team|key|usage|plan|audit|glossary|store|config|engine|routes|openapi|COMMAND)\b|--)/gm;

export function typed(text: string, env: Environment): string {
  const start = startOf(env);
  return start === 'lingate' ? text : text.replaceAll(HINT, `${start} `);
}

function startOf(env: Environment): string {
  // npm says by which script, or that npx, has started us.
  if (env['npm_lifecycle_event'] === 'lingate') return 'npm run -s lingate --';
  return env['npm_command'] === 'exec' ? 'npx lingate' : 'lingate';
}
