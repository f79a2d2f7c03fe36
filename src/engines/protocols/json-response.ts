// From an engine's answer to a JSON object, or the word for what is wrong with it.
import type { AttemptFailure, EngineResponse } from '../../ports/engine.ts';

/** Not yet looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Any status but 200, redirects included, makes an answer unusable whatever its body says. */
export function jsonObjectOf(response: EngineResponse): JsonObject | AttemptFailure {
  if (response.status !== 200) return 'status';
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(response.body));
  } catch {
    return 'not_json';
  }
  return isJsonObject(value) ? value : 'wrong_shape';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
