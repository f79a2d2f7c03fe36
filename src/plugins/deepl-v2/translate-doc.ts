// What the API reference says of POST /v2/translate.
import Type from 'typebox';
import { TRANSLATION_PROBLEMS } from 'lingate';
import type { RouteDoc } from 'lingate';

/** Parameters that are not listed here are ignored; but `style_id`, `translation_memory_id` and `custom_instructions` are refused. */
const Body = Type.Object({
  text: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 50,
    description: 'What to translate. An empty text among others stays empty. In a form the field is repeated.',
  }),
  target_lang: Type.String({ description: 'A target code in any case; `EN` and `PT` mean the variant that the operator has chosen.' }),
  source_lang: Type.Optional(Type.String({ description: 'Without it the engine finds out.' })),
  formality: Type.Optional(Type.String({ description: '`default`, `more`, `less`, `prefer_more` or `prefer_less`.' })),
  context: Type.Optional(Type.String({ description: 'Helps the engine; is neither translated nor charged.' })),
  glossary_id: Type.Optional(Type.String({ description: 'Its languages are compared without their regions.' })),
  glossary_ids: Type.Optional(
    Type.String({ description: 'Up to five of them, in a list or joined by commas: the first that has a term decides.' }),
  ),
  tag_handling: Type.Optional(Type.String({ description: '`xml` or `html`, where the engine handles it.' })),
  ignore_tags: Type.Optional(
    Type.String({ description: 'Elements that stay as they are, joined by commas or in a list. With `xml` only.' }),
  ),
  show_billed_characters: Type.Optional(Type.String({ description: '`1`: the answer says of each text what it cost.' })),
  model_type: Type.Optional(Type.String({ description: 'Comes back as `model_type_used`; without effect.' })),
  split_sentences: Type.Optional(Type.String({ description: '`0`, `1` or `nonewlines`; without effect.' })),
  preserve_formatting: Type.Optional(Type.String({ description: '`0` or `1`; without effect.' })),
});

const DeepLAnswer = Type.Object({
  translations: Type.Array(
    Type.Object({
      detected_source_language: Type.String({ description: '`UND` where nobody has found it out.' }),
      text: Type.String({ description: 'The translation.' }),
      billed_characters: Type.Optional(Type.Integer({ description: 'With `show_billed_characters`.' })),
      model_type_used: Type.Optional(Type.String({ description: 'With `model_type`.' })),
    }),
    { description: 'One per text, in the order of the texts.' },
  ),
});

export const TRANSLATE_DOC: RouteDoc = {
  summary: 'Translate texts',
  description: 'Translates up to 50 texts, all or none of them.',
  authenticated: true,
  tag: 'Translation',
  body: {
    description: 'As a form or as JSON.',
    schema: Body,
    example: { text: ['Hello'], target_lang: 'DE' },
    contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
  },
  answer: {
    status: 200,
    description: 'All texts are translated, and were charged.',
    schema: DeepLAnswer,
    example: { translations: [{ detected_source_language: 'EN', text: 'Hallo' }] },
  },
  problems: [...TRANSLATION_PROBLEMS, 'glossary_not_found'],
};
