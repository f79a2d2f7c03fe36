// Reads who a person is from the claims of a provider: their groups, and a name that is safe in the audit.
import type { ProviderRefusal } from '../domain/sign-in-refusal.ts';
import type { OidcSettings, ProvenPerson } from '../ports/identity-provider.ts';

type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** Limits what a session keeps. */
const GROUPS_MAX = 10_000;
/** One line of printable characters. */
const NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;

/** `claims` have been checked; of the same name, those of the ID token count. */
export function personOf(claims: Claims, idToken: string, { groupsClaim, nameClaim }: OidcSettings): ProvenPerson | ProviderRefusal {
  const groups = groupsOf(Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined);
  if (groups === undefined) return { refused: 'no_claim', detail: `there is no claim ${groupsClaim} with a list of groups` };
  const name = Object.hasOwn(claims, nameClaim) && isOwn(claims, nameClaim) ? claims[nameClaim] : undefined;
  const isName = typeof name === 'string' && NAME.test(name);
  return { issuer: claims.iss, subject: claims.sub, name: isName ? name : printable(claims.sub), groups, idToken };
}

/** Some providers send a single group as a text. */
function groupsOf(claim: unknown): readonly string[] | undefined {
  if (typeof claim === 'string') return [claim];
  if (!Array.isArray(claim)) return undefined;
  return claim.slice(0, GROUPS_MAX).filter((group): group is string => typeof group === 'string');
}

/** At many providers everyone may write any address into their profile: one that is not verified would be a mask in the audit. */
function isOwn(claims: Claims, nameClaim: string): boolean {
  return nameClaim !== 'email' || claims['email_verified'] !== false;
}

/** By the standard a subject is at most 255 ASCII characters. */
function printable(subject: string): string {
  return subject.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 255);
}
