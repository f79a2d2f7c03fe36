// The built-in engine protocols, by their names in `engine.protocol`.
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
