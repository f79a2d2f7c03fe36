// The engine protocols that come with the gateway, by the names that `engine.protocol` uses.
import type { EngineProtocol } from '../../ports/engine.ts';
import { apertiumProtocol } from './apertium.ts';
import { nativeProtocol } from './native.ts';

export const builtInProtocols: ReadonlyMap<string, EngineProtocol> = new Map([
  ['native', nativeProtocol],
  ['apertium', apertiumProtocol],
]);
