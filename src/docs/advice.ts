// What someone who meets a problem can do about it, by code.
import type { ProblemCode } from '../core/problem.ts';

const BACK_OFF = 'Wait for `Retry-After` seconds, then try again with growing pauses.';

/** Behind the word whether to try again. */
export const advice: Readonly<Record<ProblemCode, string>> = {
  validation_error: '`detail` names the field that breaks a rule: change it.',
  invalid_target_lang: '`GET /v1/languages?type=target` lists the codes. `EN` and `PT` are targets with their region only.',
  invalid_source_lang: '`GET /v1/languages` lists the codes. Send `EN`, not `EN-GB`; or leave it out and let the engine find out.',
  too_many_texts: 'Send at most `max_texts` texts at a time.',
  text_too_long: 'Send at most `max_characters` characters at a time, over all texts of a request; `characters` is what was counted.',
  bad_request: 'Go back to the dashboard and choose again.',
  unauthorized:
    'Check that the key is complete and sent in one of the accepted forms. An `Authorization` field counts alone when it is sent.',
  key_revoked: 'Use another key of the team, or have one created.',
  quota_exceeded: 'Wait for `period_end`, or have the plan or its overage cap raised.',
  credit_exhausted: 'Add credit. A request that costs less than `balance_minor` still goes through.',
  forbidden: 'Sign in to the dashboard with a role that may do this.',
  glossary_limit_reached: 'Delete a glossary, or have the plan raised.',
  not_found: 'Check the path: it is case-sensitive and takes no slash at the end.',
  glossary_not_found: '`GET /v1/glossaries` lists the ids of the team. Those of other teams look as if they did not exist.',
  method_not_allowed: '`Allow` lists the methods that this path accepts.',
  csrf_invalid: 'Load the form again and send it from there.',
  rate_limited: `${BACK_OFF} More keys do not help: the limit is the team's.`,
  internal_error: 'If it fails again, ask for help and give the `request_id`.',
  engine_unavailable: BACK_OFF,
  service_unavailable: BACK_OFF,
};
