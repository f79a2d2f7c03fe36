// The notice that shows a new key, once.
import type { NewKeyReport } from '../admin/reports.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';

export function newKeyNotice({ key, display }: NewKeyReport): Html {
  return html`<p><strong>Key ${display} was made.</strong> This is all of it, shown this once: copy it now.</p>
    <p><code class="secret" data-copy="Copy the key">${key}</code></p>`;
}
