// The schema of a document in the admin API's answers.
import type { TSchema } from 'typebox';
import { DOCUMENT_STATES } from '../domain/document-states.ts';
import { Type } from '../domain/typebox.ts';

const moment = Type.String({ format: 'date-time' });
const orNull = <Schema extends TSchema>(schema: Schema, description: string) => Type.Union([schema, Type.Null()], { description });

export const DocumentAnswer = Type.Object({
  document_id: Type.String(),
  team_id: Type.String(),
  team_name: orNull(Type.String(), 'Null if the team was deleted just now.'),
  key_id: Type.String({ description: 'The key that it was sent with.' }),
  key_label: orNull(Type.String(), "The key's label, which may be empty; null if there is no such key any more."),
  status: Type.Enum([...DOCUMENT_STATES], { type: 'string' }),
  code: orNull(Type.String(), 'With error: a problem code. What was wrong is told to the sender alone.'),
  format: Type.String({ description: "The ending of the file's name, which is not shown itself." }),
  bytes: Type.Integer({ minimum: 0, description: 'Of the file that was sent.' }),
  source_lang: orNull(Type.String(), 'Null if none was given.'),
  target_lang: Type.String(),
  character_count: orNull(
    Type.Integer({ minimum: 0 }),
    'What was counted, or with done what is charged; null before it was counted, and with error.',
  ),
  downloaded: Type.Boolean({ description: 'Whether it was downloaded to the end, and charged.' }),
  failures: Type.Integer({ minimum: 0, description: 'How often it had to be tried again.' }),
  created_at: moment,
  ended_at: orNull(moment, 'When it was translated or ended in an error.'),
  expires_at: moment,
});
