// Validates an event in JSON against the schema of the CloudEvents 1.0 specification.
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

const ABSENT_OR_TEXT = { type: ['string', 'null'], minLength: 1 };

/** cloudevents.json of the specification, version 1.0; further members are extensions, named in lower-case letters and digits. */
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

/** What violates the schema; empty if nothing does. */
export function cloudEventFaults(event: unknown): readonly string[] {
  return validate(event) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
