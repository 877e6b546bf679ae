/**
 * Runs calls of the command line one after another in this process, which loads its modules once. Each call is a line of
 * the fourth stream and finds arguments, environment, streams and folder as in a process of its own. Its end is a line back.
 */
import { Console } from 'node:console';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Call {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
  readonly cwd?: string | undefined;
}

const wire = new Socket({ fd: 3 });
const ownFolder = process.cwd();
let count = 0;

/** A stream that keeps what is written. */
function kept() {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(pieces).toString() };
}

/** A process ends when nothing is left that it waits for. */
const waitsFor = () => process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate').length;

async function answered({ program, args, environment, input, cwd = ownFolder }: Call): Promise<Ended> {
  const [out, err] = [kept(), kept()];
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: out.stream, stderr: err.stream };
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true });
  globalThis.console = new Console(out.stream, err.stream);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(cwd);
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  process.removeAllListeners('disconnect');
  const before = waitsFor();
  count += 1;
  // Another address evaluates it anew; what it imports is there already.
  await (await import(`${program}?call=${count}`)).ended;
  while (waitsFor() > before) await delay(2, undefined, { ref: false });
  return { code: Number(process.exitCode ?? 0), out: out.text(), err: err.text() };
}

for await (const line of createInterface({ input: wire })) {
  const ended = await answered(JSON.parse(line));
  wire.write(`${JSON.stringify(ended)}\n`);
}
