// npm run bench:micro: the parts of a request's path, each beside a floor, in nanoseconds.
import { admissionEncoding } from './micro/admission-encoding.ts';
import { identify } from './micro/identify.ts';
import { logLine } from './micro/log-line.ts';
import { timeCase } from './micro/micro-case.ts';
import { pipeline } from './micro/pipeline.ts';
import { problemRendering } from './micro/problem-rendering.ts';
import { read } from './micro/read.ts';
import { requestId } from './micro/request-id.ts';
import { describeMachine, machineLine } from './machine/description.ts';
import { spread } from './run/median.ts';
import { textTable } from './run/text-table.ts';

const rows = [requestId, identify, read, admissionEncoding, problemRendering, pipeline, logLine].map((each) => {
  const { name, floorDoes, nsEach, floorNsEach } = timeCase(each);
  const [part, floor] = [spread(nsEach), spread(floorNsEach)];
  const width = `${part.least.toFixed(0)}–${part.most.toFixed(0)}`;
  return [name, part.median.toFixed(0), width, floor.median.toFixed(0), (part.median / floor.median).toFixed(1), floorDoes];
});

console.log(`${machineLine(await describeMachine())}\n`);
console.log(textTable(['', 'ns', 'spread', 'floor ns', 'ratio', 'floor'], rows));
