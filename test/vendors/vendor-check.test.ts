// What `npm run task -- vendors` finds in descriptions of vendors, and that it reads those that are installed.
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/manual.ts';
import { readInstalled, vendorSources, whatIsNew } from './vendor-check.ts';
import type { VendorSource } from './vendor-check.ts';
import { interfaceMembers, messageFields, methodsOf, pathsOf } from './vendor-types.ts';

const TYPES = `
/** An interface Target { not: this } */
export interface Target extends Other {
    /** The code; such as de: German. */
    readonly language: string;
    "x-tone"?: Array<{ inner: string }>;
    pairs?: {
        source: string;
    };
}
export interface Targets { other: string }
(path: "/translate"): Translate;
(path: "/other"): Other;`;

const PROTO = `
// message Request { string not = 1; }
service Translation {
  rpc TranslateText(Request) returns (Answer) { option (http) = { post: "/v3" }; }
  rpc Other(Request) returns (Answer);
}
message Request {
  repeated string contents = 1 [(behavior) = REQUIRED];
  // string gone = 2;
  .google.Config target_language_code = 5;
  map<string, string> labels = 10 [(behavior) = OPTIONAL];
  oneof source { string inner_text = 11; }
}`;

test('names are read from interfaces, messages, services and overloads', () => {
  expect(interfaceMembers(TYPES, 'Target')).toEqual(['language', 'x-tone', 'pairs']);
  expect(interfaceMembers(TYPES, 'Nothing')).toBeUndefined();
  expect(messageFields(PROTO, 'Request')).toEqual(['contents', 'targetLanguageCode', 'labels']);
  expect(messageFields(PROTO, 'Nothing')).toBeUndefined();
  expect(methodsOf(PROTO)).toEqual(['TranslateText', 'Other']);
  expect(pathsOf(TYPES)).toEqual(['/translate', '/other']);
});

test('what is not known is reported with its package, and so is a place that is gone', () => {
  const source = (what: string, names: VendorSource['names']): VendorSource => ({
    package: 'vendor',
    file: 'types.d.ts',
    what,
    names,
    known: ['Language', 'pairs'],
  });
  const read = () => ({ version: '3.1.0', text: TYPES });
  const sources = [source('Target', (text) => interfaceMembers(text, 'Target')), source('Gone', (text) => interfaceMembers(text, 'Gone'))];
  expect(whatIsNew(sources, read)).toEqual(['vendor 3.1.0: Target: x-tone is new', 'vendor 3.1.0: Gone is not in types.d.ts any more']);
});

test('everything in the installed packages is served, refused or known', () => {
  expect(whatIsNew(vendorSources(OPERATIONS), readInstalled)).toEqual([]);
});
