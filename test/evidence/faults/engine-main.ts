// The marked engine as a program, which can be killed and frozen: prints its port, and serves until it is stopped.
import process from 'node:process';
import { startMarkedEngine } from './marked-engine.ts';

const { port } = await startMarkedEngine({ port: Number(process.argv[2] ?? 0) });
process.stdout.write(`port ${port}\n`);
