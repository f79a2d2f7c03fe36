// The plugin's options in the configuration.
import Type from 'typebox';
import type { Static } from 'typebox';
import { defaultVariants } from '../facades/default-variants.ts';

export const AzureOptions = Type.Object(
  {
    // There `pt` is Brazilian by name; `pt-pt` is the other.
    default_variants: defaultVariants('EN-GB', 'PT-BR'),
    root: Type.Boolean({
      default: true,
      description:
        'Whether the routes are there as `/translate`, `/detect` and `/languages` too, and not only below `/translator/text/v3.0`. The LibreTranslate plugin has the same paths.',
    }),
  },
  { additionalProperties: false, default: {} },
);

export type AzureOptions = Static<typeof AzureOptions>;
