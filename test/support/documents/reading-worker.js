// A thread that reads a document as the gateway's does, but with the priority of tests: a busy machine would keep it waiting.
import { parentPort, workerData } from 'node:worker_threads';
import { extractTexts } from '../../../dist/documents/read-and-build.js';

parentPort.postMessage(extractTexts(workerData.format, workerData.bytes), []);
