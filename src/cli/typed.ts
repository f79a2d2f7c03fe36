// Rewrites commands in hints as the user would type them here: by npm in a checkout, by npx beside a package, otherwise unchanged.
import type { Environment } from '../config/overrides.ts';

/** After a quote or a colon: not the prefix of an error message, which names the command that failed. */
const HINT =
  /(?<="|: |^ {2})lingate (?=(?:serve|demo|team|key|usage|plan|audit|glossary|store|config|engine|routes|openapi|COMMAND)\b|--)/gm;

export function typed(text: string, env: Environment): string {
  const start = startOf(env);
  return start === 'lingate' ? text : text.replaceAll(HINT, `${start} `);
}

function startOf(env: Environment): string {
  // npm sets the name of the script that started us, or that it was npx.
  if (env['npm_lifecycle_event'] === 'lingate') return 'npm run -s lingate --';
  return env['npm_command'] === 'exec' ? 'npx lingate' : 'lingate';
}
