// What CloudEvents 1.0 asks of an event in JSON, as its specification's own schema has it.
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

const ABSENT_OR_TEXT = { type: ['string', 'null'], minLength: 1 };

/** cloudevents.json of the specification, version 1.0; members beside these are extensions, in lower-case letters and digits. */
const SCHEMA = {
  type: 'object',
  required: ['id', 'source', 'specversion', 'type'],
  properties: {
    id: { type: 'string', minLength: 1 },
    source: { type: 'string', format: 'uri-reference', minLength: 1 },
    specversion: { type: 'string', const: '1.0' },
    type: { type: 'string', minLength: 1 },
    datacontenttype: ABSENT_OR_TEXT,
    dataschema: { type: ['string', 'null'], format: 'uri', minLength: 1 },
    subject: ABSENT_OR_TEXT,
    time: { type: ['string', 'null'], format: 'date-time', minLength: 1 },
    data: { type: ['object', 'string', 'number', 'array', 'boolean', 'null'] },
    data_base64: { type: ['string', 'null'], contentEncoding: 'base64' },
  },
  patternProperties: { '^[a-z0-9]+$': {} },
  additionalProperties: false,
};

const ajv = new Ajv({ allErrors: true, strict: false });
addFormats.default(ajv);
const validate = ajv.compile(SCHEMA);

/** What is wrong with it by the schema; empty when nothing is. */
export function cloudEventFaults(event: unknown): readonly string[] {
  return validate(event) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
