// Right answers of a scripted engine that translates files, by DeepL's API or LibreTranslate's; texts as ever.
import type { RightAnswer, ScriptedRequest } from './scripted-behaviours.ts';

export interface ScriptedFilesOptions {
  /** DeepL's: what it bills for a file; by default the characters of the file. */
  readonly billed?: (file: string) => number;
  /** DeepL's: how often it is asked before a file is done. */
  readonly unreadyFor?: number;
}

/** What a well-behaved engine makes of a file. */
export function scriptedFile(file: string, targetLang: string): string {
  return `${file}[${targetLang.toUpperCase()}]`;
}

/** `texts` answers everything else. */
export function scriptedFiles(
  texts: RightAnswer,
  { billed = (file) => file.length, unreadyFor = 1 }: ScriptedFilesOptions = {},
): RightAnswer {
  const uploaded = new Map<string, { readonly file: string; readonly translated: string; asked: number }>();
  return (request) => {
    const [, id = '', isResult] = /^\/v2\/document\/(\w+)(\/result)?$/.exec(request.path) ?? [];
    const known = uploaded.get(id);
    if (known !== undefined) {
      if (isResult !== undefined) return known.translated;
      const isDone = known.asked++ >= unreadyFor;
      return JSON.stringify(
        isDone ? { document_id: id, status: 'done', billed_characters: billed(known.file) } : { status: 'translating' },
      );
    }
    const download = uploaded.get(/^\/download_file\/(\w+)\.\w+$/.exec(request.path)?.[1] ?? '');
    if (download !== undefined) return download.translated;
    if (request.path !== '/v2/document' && request.path !== '/translate_file') return texts(request);
    const { file, fields } = formIn(request);
    const newId = `D${uploaded.size + 1}`;
    uploaded.set(newId, { file, translated: scriptedFile(file, fields['target_lang'] ?? fields['target'] ?? ''), asked: 0 });
    return JSON.stringify(
      request.path === '/v2/document'
        ? { document_id: newId, document_key: 'K'.repeat(64) }
        : { translatedFileUrl: `http://another.example/download_file/${newId}.txt` },
    );
  };
}

/** A well-formed form. */
export function formIn({ body }: Pick<ScriptedRequest, 'body'>): {
  readonly file: string;
  readonly fields: Readonly<Record<string, string>>;
} {
  const boundary = body.slice(0, body.indexOf('\r\n'));
  const fields: Record<string, string> = {};
  for (const part of body.split(boundary).slice(1, -1)) {
    const end = part.indexOf('\r\n\r\n');
    fields[/ name="(\w+)"/.exec(part.slice(0, end))?.[1] ?? ''] = part.slice(end + 4, -2);
  }
  const { file = '', ...others } = fields;
  return { file, fields: others };
}
