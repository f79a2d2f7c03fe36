// What plugin authors import: the types of the chain and the ports, and `definePlugin`.
import type { TSchema } from 'typebox';
import type { PluginDefinition } from './core/plugin.ts';
import type { EngineProtocol } from './ports/engine.ts';

/**
 * Declares a plugin; the module's default export, named under `plugins:` in the configuration.
 *
 * @example
 * export default definePlugin({
 *   name: 'maintenance',
 *   options: Type.Object({ closed: Type.Boolean() }),
 *   setup: ({ closed }) => ({
 *     steps: [{ after: 'identify', step: { kind: 'head', name: 'maintenance', run: () => (closed ? refuse('service_unavailable', 'Closed.') : undefined) } }],
 *   }),
 * });
 */
export function definePlugin<Options extends TSchema>(
  plugin: PluginDefinition<Options, EngineProtocol>,
): PluginDefinition<Options, EngineProtocol> {
  return plugin;
}

export { json, NO_HEADERS } from './core/outcome.ts';
export type { HeaderList, Outcome, Refusal, Reply } from './core/outcome.ts';
export { problems, refuse } from './core/problem.ts';
export type { Problem, ProblemCode } from './core/problem.ts';
export type { Cancellation, Exchange, RequestHead, Slot } from './core/exchange.ts';
export type { BodyStep, HeadStep, Step } from './core/step.ts';
export type { PluginHost, PluginParts, StepPlacement } from './core/plugin.ts';
export { keyOwnerSlot, requestStatsSlot, translateRequestSlot } from './domain/slots.ts';
export { chargeSlot, refusedCharge } from './domain/charge.ts';
export type { Charge, GlossaryReference } from './domain/charge.ts';
export type { TranslateRequest } from './domain/translate-request.ts';
export type { EngineGlossary, TextFormat, TranslationOptions } from './domain/translation-options.ts';
export type { KeyOwner } from './domain/api-key.ts';
export { secret } from './domain/option-schema.ts';
export type {
  Attempt,
  EngineCall,
  EngineCapabilities,
  EngineProtocol,
  EngineResponse,
  EngineTokens,
  EngineWire,
  EngineWork,
  Translation,
} from './ports/engine.ts';
