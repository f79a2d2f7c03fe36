// Refusals that more than one step gives, and that never vary: made once.
import { refuse } from '../core/problem.ts';

export const UNKNOWN_KEY = refuse('unauthorized', 'The API key is not known.');
export const STORE_UNAVAILABLE = refuse('service_unavailable', 'A service behind this one is unreachable; try again in a few seconds.');
export const NO_SUCH_GLOSSARY = refuse('validation_error', 'glossary_id: the team has no glossary of this id.');
export const GLOSSARY_MISMATCH = refuse('validation_error', "glossary_id: the glossary's languages are not source_lang and target_lang.");
export const OVERLOADED = refuse(
  'service_unavailable',
  'More requests are under way than can be served in time; nothing was charged. Try again in a few seconds.',
);
