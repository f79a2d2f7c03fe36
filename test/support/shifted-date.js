// Preloaded into a process (node --import): shifts its wall clock by the milliseconds in a file that a test rewrites, as setting the
// machine's clock would. Monotonic clocks and timers go on.
import { readFileSync } from 'node:fs';

const file = process.env.SHIFTED_DATE_FILE;
const RealDate = Date;
const realNow = Date.now;
let offByMs = 0;

function read() {
  offByMs = Number(readFileSync(file, 'utf8'));
}

class ShiftedDate extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(realNow() + offByMs);
    else super(...parts);
  }

  static now() {
    return realNow() + offByMs;
  }
}

if (file !== undefined) {
  read();
  setInterval(read, 20).unref();
  globalThis.Date = ShiftedDate;
}
