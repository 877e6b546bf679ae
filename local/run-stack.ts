import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readCall } from '../settings/program-call.ts';
import { endOnUnexpected } from '../telemetry/unexpected.ts';
import { writeDurably } from './data-folder.ts';
import { onEnd } from './parent.ts';
import { fatalSentences, PlainError } from './plain-error.ts';
import { startStack } from './stack.ts';

/** The file with the addresses of a shared stack; tests find it by TEST_STACK_DIR. */
const ENVIRONMENT_FILE = 'environment.json';

/** `stack --data-dir DIR`: the three servers alone, until it is stopped, so that test runs can share them. */
async function main(): Promise<void> {
  const usage = 'Usage: node local/bootstrap.mjs stack --data-dir DIR';
  const given = readCall(usage, { 'data-dir': { type: 'string' } })['data-dir'];
  if (given === undefined) throw new PlainError(usage);
  const dataDir = resolve(given);
  const file = join(dataDir, ENVIRONMENT_FILE);
  const stack = await startStack({
    dataDir,
    log: console.error,
    temporary: true,
    // The file of a killed start would name servers that are gone.
    beforeServers: async () => rmSync(file, { force: true }),
  });
  endOnUnexpected(fatalSentences, () => stack.stop());
  writeDurably(file, `${JSON.stringify(stack.environment, null, 2)}\n`);
  console.log(`The servers are ready. For tests: TEST_STACK_DIR=${dataDir}`);
  onEnd(() => {
    rmSync(file, { force: true });
    void stack.stop().then(() => process.exit(0));
  });
}

main().catch((error: unknown) => {
  console.error(error instanceof PlainError ? error.message : error);
  process.exit(1);
});
