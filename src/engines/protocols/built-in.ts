// The engine protocols that come with the gateway, by the names that `engine.protocol` uses.
import type { EngineProtocol } from '../../ports/engine.ts';
import { apertiumProtocol } from './apertium.ts';
import { deepLProtocol } from './deepl.ts';
import { libreTranslateProtocol } from './libretranslate.ts';
import { mtranServerProtocol } from './mtranserver.ts';
import { nativeProtocol } from './native.ts';
import { openAiProtocol } from './openai.ts';

export const builtInProtocols: ReadonlyMap<string, EngineProtocol> = new Map<string, EngineProtocol>([
  ['native', nativeProtocol],
  ['apertium', apertiumProtocol],
  ['libretranslate', libreTranslateProtocol],
  ['openai', openAiProtocol],
  ['deepl', deepLProtocol],
  ['mtranserver', mtranServerProtocol],
]);
