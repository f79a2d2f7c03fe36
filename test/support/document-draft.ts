// A document as an upload creates it, for tests of what becomes of it.
import type { DocumentHold, NewDocument } from '../../src/ports/documents.ts';
import { newId } from './door/contracts.ts';

export function documentDraft(
  { teamId, keyId }: Pick<NewDocument, 'teamId' | 'keyId'>,
  holds: readonly DocumentHold[] = [],
  bytes = 8,
): NewDocument {
  return { documentId: newId(), teamId, keyId, fileName: 'a.txt', format: 'txt', bytes, targetLang: 'DE', holds };
}
