// What went wrong, as a page: title, detail, the problem's code, and the id under which the log has it.
import { problems } from '../core/problem.ts';
import type { Problem } from '../core/problem.ts';
import { html } from '../docs/html.ts';
import { CONSOLE_PREFIX } from './prefix.ts';
import type { PageContent } from './console-route.ts';

export function errorPage({ code, detail }: Problem, requestId: string): PageContent {
  const { title } = problems[code];
  return {
    title,
    main: html`<h1>${title}</h1>
      <p>${detail}</p>
      <p><a href="${CONSOLE_PREFIX}">To the console</a></p>
      <p class="soft"><code>${code}</code>, request <code>${requestId}</code></p>`,
  };
}
