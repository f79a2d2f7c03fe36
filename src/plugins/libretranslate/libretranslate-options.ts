// The plugin's options in the configuration.
import Type from 'typebox';
import type { Static } from 'typebox';
import { DefaultVariants } from '../facades/default-variants.ts';

export const LibreTranslateOptions = Type.Object(
  {
    default_variants: DefaultVariants,
    api_key_in_body: Type.Boolean({
      default: true,
      description: 'Whether a key is taken from `api_key` in the body where no field of the request has one, as clients send it.',
    }),
    cors: Type.Boolean({
      default: true,
      description: 'Whether pages and extensions of any origin may read the answers in a browser, as they may at LibreTranslate.',
    }),
  },
  { additionalProperties: false, default: {} },
);

export type LibreTranslateOptions = Static<typeof LibreTranslateOptions>;
