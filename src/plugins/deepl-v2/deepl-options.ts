// The plugin's options in the configuration.
import Type from 'typebox';
import type { Static } from 'typebox';
import { DefaultVariants } from '../facades/default-variants.ts';

export const DeepLOptions = Type.Object(
  {
    attempt_timeout_ms: Type.Integer({
      minimum: 1,
      default: 2000,
      description:
        'For each of the two attempts at the engine, where that is less than `engine.timeout_ms`: the SDKs hang up after 5 s (node) or 10 s (python).',
    }),
    default_variants: DefaultVariants,
  },
  { additionalProperties: false, default: {} },
);

export type DeepLOptions = Static<typeof DeepLOptions>;
