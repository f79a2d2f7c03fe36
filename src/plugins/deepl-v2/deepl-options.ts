// The plugin's options in the configuration.
import Type from 'typebox';
import type { Static } from 'typebox';
import { DefaultVariants } from '../facades/default-variants.ts';

/** About as long as the most impatient client waits: one attempt that may succeed, rather than two that are too short. */
export const ATTEMPT_MS = 4500;

export const DeepLOptions = Type.Object(
  {
    attempt_timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `For each of the two attempts at the engine, where that is less than \`engine.timeout_ms\`. Without it ${ATTEMPT_MS}: the SDKs hang up after 5 s (Node) or 10 s (Python).`,
      }),
    ),
    default_variants: DefaultVariants,
  },
  { additionalProperties: false, default: {} },
);

export type DeepLOptions = Static<typeof DeepLOptions>;
