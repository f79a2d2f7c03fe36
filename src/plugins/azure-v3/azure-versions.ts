// The versions of Azure's API that are served, which one a request is for, and problems in the form of that version.
import type { ProblemForm } from 'lingate';
import Type from 'typebox';
import type { Judged } from '../facades/members.ts';
import type { DescribedOperation } from '../facades/parameter-table.ts';
import type { QueryDoc } from '../facades/reference.ts';
import { AZURE_2026_06_06 } from './azure-2026-06-06.ts';
import { AZURE_3_0 } from './azure-3-0.ts';
import { numberOf, queryOf, wordsOf, wrong } from './azure-request.ts';
import type { Query } from './azure-request.ts';
import type { AzureVersion, ReadJson, ReadTranslation } from './azure-version.ts';

/** In the order of the reference. Failures of requests without a version have the form of the first. */
export const AZURE_VERSIONS: readonly [AzureVersion, ...AzureVersion[]] = [AZURE_3_0, AZURE_2026_06_06];

const [FIRST] = AZURE_VERSIONS;

/** `api-version` of a route that these versions have. */
export function apiVersion(versions: readonly [AzureVersion, ...AzureVersion[]] = AZURE_VERSIONS): QueryDoc {
  const names = versions.map(({ version }) => version);
  const examples = Object.fromEntries(names.map((name) => [name, { summary: `Version ${name}`, value: name }]));
  return { name: 'api-version', description: 'The version of the API.', schema: Type.Enum(names), required: true, examples };
}

const WORDS = AZURE_VERSIONS.map(({ version }) => version).join(' or ');
const BAD_VERSION = wrong(400_021, `api-version: must be ${WORDS}, in the query of every request.`);

/** For the manual's table. */
export function azureOperations(): readonly DescribedOperation[] {
  return AZURE_VERSIONS.map(({ version, translate: { query, body } }) => ({
    api: `Azure ${version}`,
    parameters: [{ name: 'api-version', does: 'served', about: `\`${version}\`.` }, ...query, ...body],
    others: 'without effect',
  }));
}

/** The version of the API that a request is for; otherwise the refusal. */
export function versionOf(query: Query): Judged<AzureVersion> {
  const valid = versionIn(query);
  return valid === undefined ? BAD_VERSION : { valid };
}

export interface VersionedTranslation extends ReadTranslation {
  readonly version: AzureVersion;
}

/** Checks the version first, then the body. `readJson` as for a version. */
export function readTranslation(queryText: string, readJson: ReadJson): Judged<VersionedTranslation> {
  const query = queryOf(queryText);
  const version = versionOf(query);
  if ('problem' in version) return version;
  const read = version.valid.translate.read(query, readJson);
  return 'problem' in read ? read : { valid: { ...read.valid, version: version.valid } };
}

function versionIn(query: Query): AzureVersion | undefined {
  const versions = query.get('api-version') ?? [];
  return versions.length === 1 ? AZURE_VERSIONS.find(({ version }) => version === versions[0]) : undefined;
}

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: (problem) => Math.floor(numberOf(problem) / 1000),
  body(problem, _document, query) {
    const { codeOf } = versionIn(queryOf(query)) ?? FIRST;
    return JSON.stringify({ error: { code: codeOf(numberOf(problem)), message: wordsOf(problem) } });
  },
};
