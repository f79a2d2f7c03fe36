// The README's two commands, as somebody types them who has just cloned the project.
import process from 'node:process';
import { expectPassed, mustRun } from './command.ts';
import type { Ran, Running } from './command.ts';
import type { BareMachine } from './bare-machine.ts';
import type { NodeName } from './node.ts';
import { say } from './step-counts.ts';

const INSTALL_AND_DEMO_MS = 300_000;
const INSTALL_AND_TEST_MS = 1_200_000;

/** What can differ from one Node to another: native code, HTTP, TLS, `node:sqlite`, how a process starts and how the package does. */
export const DIFFERS_BY_NODE: readonly string[] = [
  'npm test -- test/unit/stores/contract.test.ts test/unit/engines/protocols/contract.test.ts test/http/table.test.ts test/journey/serve.test.ts test/journey/tls.test.ts',
  'npm run test:package -- test/package/package.test.ts',
];
const CURL_LINE = /^curl .*$(?=\n)/m;
const ANSWER_MS = 10_000;
/** The demo drains what it has, and there is nothing. */
const STOP_MS = 15_000;

/** `npm start`, after what installs it: the line that the demo prints is pasted into a shell and translates; then it is stopped as by Ctrl-C. */
export async function demoAnswers(machine: BareMachine, install: string): Promise<void> {
  // Job control gives the demo a process group of its own, which is what Ctrl-C in a terminal speaks to.
  const command = install + '{ set -m; npm start < /dev/null & job=$!; read -r stop; kill -INT -- -$job; wait $job; }';
  const demo = machine.start(command, { limitMs: INSTALL_AND_DEMO_MS });
  try {
    await pasteCurlLine(demo, INSTALL_AND_DEMO_MS);
    demo.program.child.stdin?.end('stop\n');
    const limit = setTimeout(() => demo.kill(`did not stop within ${STOP_MS / 1000} s of Ctrl-C`), STOP_MS);
    const { killed } = await demo.ended;
    clearTimeout(limit);
    if (killed !== undefined) throw new Error(killed);
    if (!demo.output().includes('lingate has stopped')) throw new Error('it did not say that it has stopped');
  } catch (error) {
    demo.kill('the demo failed');
    await demo.ended;
    throw new Error(`${(error as Error).message}\n${demo.output().slice(-4000)}`, { cause: error });
  }
}

/** Runs the line that a demo prints in a shell, as it stands; throws unless that translates. */
export async function pasteCurlLine(demo: Running, limitMs: number): Promise<void> {
  await demo.program.until(CURL_LINE, limitMs);
  const line = CURL_LINE.exec(demo.output())![0];
  const answer = await mustRun('sh', ['-c', line], { limitMs: ANSWER_MS, uses: ['curl'] });
  const { translations } = JSON.parse(answer) as { translations: readonly { text: string }[] };
  if (translations[0]?.text !== 'Hallo, Welt!') throw new Error(`the demo answered: ${answer}`);
  say(`  ${line.replace(/la_\w+/, 'la_test_…')}\n  ${answer.trim()}`);
}

/** `lingate --version` names the machine's Node where that is one of those that we run on, and says which HTTP library there is. */
export async function saysItsNode(machine: BareMachine, node: NodeName): Promise<void> {
  const reply = expectPassed('--version', await machine.run('npm run -s lingate -- --version', { limitMs: ANSWER_MS }));
  const lines = reply.trim().split('\n');
  if (node !== 'own' && !lines.some((line) => line.startsWith(`Node ${node}.`))) throw new Error(`npm scripts run on another:\n${reply}`);
  say(`  ${lines.join(', ')}`);
}

/** Runs a command that ends with a suite of vitest, such as `npm ci && npm test`; its output is shown as it comes. */
export async function runSuite(machine: BareMachine, command: string): Promise<Ran> {
  const started = performance.now();
  let installedAt: number | undefined;
  const show = (text: string): void => {
    process.stdout.write(text);
    if (installedAt === undefined && text.includes(' RUN ')) installedAt = performance.now();
  };
  const ran = await machine.run(command, { limitMs: INSTALL_AND_TEST_MS, show });
  if (ran.killed !== undefined) say(`${command}: ${ran.killed}`);
  if (installedAt !== undefined) {
    say(`  ${seconds(installedAt - started)} for what is installed, ${seconds(performance.now() - installedAt)} for the tests`);
  }
  return ran;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
