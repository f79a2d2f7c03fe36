// The plugin's options in the configuration.
import Type from 'typebox';
import type { Static } from 'typebox';
import { DefaultVariants } from '../facades/default-variants.ts';

export const GoogleOptions = Type.Object(
  {
    default_variants: DefaultVariants,
    key_in_query: Type.Boolean({
      default: false,
      description:
        'Whether a key is taken from `?key=` where no field of the request has one, as most clients of that API send it. Lingate never logs it; proxies on the way may.',
    }),
  },
  { additionalProperties: false, default: {} },
);

export type GoogleOptions = Static<typeof GoogleOptions>;
