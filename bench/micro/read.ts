// read: media type, UTF-8, JSON, every rule of the parameter table.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/config/load.ts';
import { chargeSlot } from '../../src/domain/charge.ts';
import { translateRequestSlot } from '../../src/domain/slots.ts';
import { capabilitiesOf } from '../../src/domain/engine-capabilities.ts';
import { offersOfOne } from '../../src/domain/engine-offer.ts';
import { readStep } from '../../src/steps/read.ts';
import { SAMPLE_CHARACTERS, SAMPLE_TEXT } from '../contestants/sample.ts';
import type { MicroCase } from './micro-case.ts';
import { SAMPLE_BYTES, sampleExchange } from './sample-exchange.ts';

const CONFIG = fileURLToPath(new URL('../../config/lingate.yaml', import.meta.url));
const BODY_BYTES_MAX = 1024 * 1024;

const can = capabilitiesOf();
const offers = offersOfOne(loadConfig({ file: CONFIG, env: {}, flags: {} }).languages, { name: 'default', can, pairs: undefined });
const step = readStep({ current: offers }, BODY_BYTES_MAX);

export const read: MicroCase = {
  name: 'read',
  floorDoes: 'JSON.parse alone',
  run() {
    const x = sampleExchange();
    return step.run(x) ?? x;
  },
  floor() {
    const x = sampleExchange();
    return [x, JSON.parse(Buffer.from(SAMPLE_BYTES.buffer, SAMPLE_BYTES.byteOffset, SAMPLE_BYTES.byteLength).toString()) as unknown];
  },
  check() {
    const x = sampleExchange();
    void step.run(x);
    assert.deepEqual(x.need(translateRequestSlot).text, [SAMPLE_TEXT]);
    assert.equal(x.need(chargeSlot).characters, SAMPLE_CHARACTERS);
    assert.equal(x.need(chargeSlot).reserve, true);
  },
};
