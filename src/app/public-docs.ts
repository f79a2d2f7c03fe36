// Serves the documentation on the public listener, if it is configured.
import type { Config } from '../config/config.ts';
import type { Reply } from '../core/outcome.ts';
import { IF_NONE_MATCH, unlessKnown, validated } from '../core/validated-reply.ts';
import type { ValidatedReply } from '../core/validated-reply.ts';
import type { HeadStep } from '../core/step.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { documentPages } from '../ops/ops-pages.ts';
import { securityFields } from '../ops/ops-request.ts';
import type { Documented } from './route-rows.ts';

interface DocumentationOptions {
  /** The current state; each page is rendered once for each state. */
  readonly config: () => Config;
  readonly documented: Documented;
  /** Called when a page is rendered, because the address is only known once everything listens. */
  readonly api: () => OpenApiOptions;
}

/** Answers from memory: these requests need no key, so a page may cost no more than its bytes. */
export function documentationStep({ config, documented, api }: DocumentationOptions): HeadStep {
  const pages = documentPages(api, [...documented.documents.keys()]);
  let madeFor: Config | undefined;
  const made = new Map<string, ValidatedReply>();
  return {
    kind: 'head',
    name: 'documentation',
    headers: [IF_NONE_MATCH],
    run({ route: { path }, head: { headers } }) {
      if (madeFor !== config()) made.clear();
      madeFor = config();
      let reply = made.get(path);
      if (reply === undefined) made.set(path, (reply = validated(replyOf(pages[path]!()))));
      return unlessKnown(reply, headers[IF_NONE_MATCH]);
    },
  };
}

function replyOf({ status, contentType, body, security }: ReturnType<ReturnType<typeof documentPages>[string]>): Reply {
  return { kind: 'reply', status, contentType, body, headers: Object.entries(securityFields(security)) };
}
