// Documents that go to engines as files: which engine, its two attempts, and what comes back.
import type { Refusal } from '../../core/outcome.ts';
import { refuse } from '../../core/problem.ts';
import { routeFor } from '../../domain/engine-offer.ts';
import type { CurrentOffers } from '../../domain/engine-offer.ts';
import { endingOf } from '../../domain/form-body.ts';
import { ENGINE_UNAVAILABLE } from '../../domain/refusals.ts';
import type { PassTraceparent } from '../../domain/request-trace.ts';
import { NOTHING_CHOSEN } from '../../domain/translation-options.ts';
import type { DocumentFormats } from '../formats.ts';
import type { DocumentRecord } from '../../ports/documents.ts';
import type { AttemptFailure, Engine, FailureDetail, TranslatedFile } from '../../ports/engine.ts';
import type { PassedFile } from './document-work.ts';

export interface FilePassingOptions {
  readonly engine: Pick<Engine, 'of'>;
  readonly offers: CurrentOffers;
  readonly formats: Pick<DocumentFormats, 'formatOf' | 'firstLook'>;
  /** Whether an engine has used up its characters; `undefined` if none is limited. */
  readonly isSpent: ((engine: string) => boolean) | undefined;
  /** Called with the failures of a file's attempts, if there were any. */
  readonly onFailures: (failures: readonly AttemptFailure[]) => void;
  /** What engines get of a caller's `traceparent`. */
  readonly passTraceparent: PassTraceparent;
}

type FileOrder = Pick<DocumentRecord, 'fileName' | 'sourceLang' | 'targetLang' | 'formality' | 'glossaryId'>;

const FILE_REFUSED = refuse(
  'validation_error',
  'file: no engine takes it; check that it is whole, has no password, is of the format of its name and not in the target language already, or send a shorter one.',
);
/** Not translated; too long; or of no format that the engine takes: its texts may be fine. */
const OF_THE_FILE_ALONE: readonly (number | undefined)[] = [200, 413, 415];

/** What both files begin with, if only engines can read them: the sign of a format. */
const SIGN_BYTES = 4;

/** In order, each with whether it takes the file. Those with glossaries get texts. */
function ableEngines({ fileName, glossaryId, ...order }: FileOrder, plan: string | undefined, { engine, offers }: FilePassingOptions) {
  const { sourceLang, targetLang, formality } = order;
  const chosen = { ...NOTHING_CHOSEN, sourceLang, targetLang, formality };
  const route = routeFor(offers.current.of(plan), chosen, glossaryId !== undefined);
  const ending = endingOf(fileName);
  const names = typeof route === 'object' ? route.names : [];
  return names.map((name) => ({ name, takes: glossaryId === undefined && engine.of(name).formats().includes(ending) }));
}

/** Whether an engine of the plan takes a file that only engines can read. */
export function isTaken(order: FileOrder, plan: string | undefined, options: FilePassingOptions): boolean {
  return ableEngines(order, plan, options).some(({ takes }) => takes);
}

/**
 * As for texts, the second by the next engine. `undefined`: the texts are to be translated. What
 * every attempt's engine refuses is the file's fault.
 */
export async function passFile(
  { document, plan, bytes, isReadable, characters, released }: PassedFile,
  { requestId, ...options }: FilePassingOptions & { readonly requestId: string },
): Promise<TranslatedFile | Refusal | undefined> {
  const { isSpent, onFailures, passTraceparent } = options;
  const left = ableEngines(document, plan, options).filter(({ name }) => isSpent?.(name) !== true);
  // What only engines can read goes to those that take it.
  const able = isReadable ? left : left.filter(({ takes }) => takes);
  const [first, second = first] = able;
  if (first === undefined) return ENGINE_UNAVAILABLE;
  const { teamId, fileName, sourceLang, targetLang, formality } = document;
  const traceparent = passTraceparent(document.traceparent);
  const work = { requestId, teamId, traceparent, fileName, bytes, sourceLang, targetLang, formality, characters };
  const failures: FailureDetail[] = [];
  for (const [index, one] of [first, second!].entries()) {
    if (!one.takes) return undefined;
    const attempt = { second: index === 1 && one === first, signal: released };
    const translated = await options.engine.of(one.name).translateFile(work, attempt);
    if (!('failure' in translated) && isValid(fileName, bytes, translated.bytes, options)) return translated;
    const detail: FailureDetail = 'failure' in translated ? translated : { failure: 'wrong_shape' };
    failures.push(detail);
    onFailures([detail.failure]);
    if (released.aborted) break;
  }
  if (!failures.every(({ failure }) => failure === 'file_refused')) return ENGINE_UNAVAILABLE;
  return isReadable && failures.every(({ status }) => OF_THE_FILE_ALONE.includes(status)) ? undefined : FILE_REFUSED;
}

/** A status of 200 alone proves nothing. */
function isValid(fileName: string, sent: Uint8Array, came: Uint8Array, { formats }: FilePassingOptions): boolean {
  const format = formats.formatOf(fileName);
  if (format !== undefined) return formats.firstLook(format, came) === undefined;
  const [sign, other] = [sent, came].map((bytes) => Buffer.from(bytes.subarray(0, SIGN_BYTES)));
  return came.length > 0 && sign!.equals(other!);
}
