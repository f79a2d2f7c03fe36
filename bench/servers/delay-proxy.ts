// Simulates a distant Redis: passes bytes on in both directions, replies --delay milliseconds late and in order.
import { connect, createServer } from 'node:net';
import { numberArgument } from './arguments.ts';

const [target, delayMs] = [numberArgument('target'), numberArgument('delay')];

createServer({ noDelay: true }, (near) => {
  const far = connect({ port: target, host: '127.0.0.1', noDelay: true });
  near.on('data', (piece) => far.write(piece));
  far.on('data', (piece) => {
    if (delayMs === 0) near.write(piece);
    else setTimeout(() => near.write(piece), delayMs);
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => undefined);
    one.once('close', () => other.destroy());
  }
}).listen(numberArgument('port'), '127.0.0.1');
