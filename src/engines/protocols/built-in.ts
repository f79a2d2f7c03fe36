// The built-in engine protocols by their names, and the schema of a protocol's options.
import type { TSchema } from 'typebox';
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/typebox.ts';
import type { EngineProtocol } from '../../ports/engine.ts';
import { apertiumProtocol } from './apertium-protocol.ts';
import { deepLProtocol } from './deepl-protocol.ts';
import { libreTranslateProtocol } from './libretranslate-protocol.ts';
import { mtranServerProtocol } from './mtranserver-protocol.ts';
import { nativeProtocol } from './native-protocol.ts';
import { openAiProtocol } from './openai-protocol.ts';

export const builtInProtocols: ReadonlyMap<string, EngineProtocol> = new Map<string, EngineProtocol>([
  ['native', nativeProtocol],
  ['apertium', apertiumProtocol],
  ['libretranslate', libreTranslateProtocol],
  ['openai', openAiProtocol],
  ['deepl', deepLProtocol],
  ['mtranserver', mtranServerProtocol],
]);

const HEADERS_MAX = 32;

/** The options of every protocol. */
const CommonOptions = Type.Object({
  headers: Type.Optional(
    Type.Record(Type.String(), secret(''), {
      maxProperties: HEADERS_MAX,
      description: 'More header fields for every request.',
    }),
  ),
});

/** The schema of `engine.options` for a protocol. */
export function optionsSchemaOf({ options }: EngineProtocol): TSchema {
  const { properties: own = {} }: { readonly properties?: Readonly<Record<string, TSchema>> } = options ?? {};
  return Type.Object({ ...own, ...CommonOptions.properties }, { additionalProperties: false });
}
