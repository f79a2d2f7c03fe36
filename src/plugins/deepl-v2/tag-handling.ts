// `tag_handling`: the format of the work, refused where the engine has no such format.
import { refuse } from 'lingate';
import type { TextFormat, TranslationOptions } from 'lingate';
import type { Members } from '../facades/members.ts';
import { namesOf, oneOf } from './deepl-parameters.ts';
import type { Judged } from '../facades/judged.ts';

const FORMATS = ['xml', 'html'] as const;
const VERSIONS = ['v1', 'v2'];

export function formatOf(members: Members, formats: readonly TextFormat[]): Judged<Pick<TranslationOptions, 'format' | 'ignoreTags'>> {
  const handling = oneOf(members, 'tag_handling', FORMATS);
  if ('problem' in handling) return handling;
  const version = oneOf(members, 'tag_handling_version', VERSIONS);
  if ('problem' in version) return version;
  const ignoreTags = namesOf(members, 'ignore_tags');
  if ('problem' in ignoreTags) return ignoreTags;
  const format = (handling.sound ?? 'text') as TextFormat;
  if (!formats.includes(format)) {
    return refuse('validation_error', `'tag_handling': the engine of this service does not handle ${format}; leave it out.`);
  }
  return { sound: { format, ignoreTags: format === 'xml' ? ignoreTags.sound : undefined } };
}
