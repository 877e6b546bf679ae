/** Questions to the person at the terminal, and secrets from the standard input. */
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UsageError } from './errors.ts';

/** Asks on standard error, so that standard output has only the result. */
export async function ask(question: string): Promise<string> {
  return prompted(process.stderr, (prompt) => prompt.question(question));
}

/** As `ask`; the typed text is not shown. */
async function askSecret(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await prompted(silent, (prompt) => {
      // Not before the terminal has ceased to echo: a program types its answer at once.
      process.stderr.write(question);
      return prompt.question('');
    });
  } finally {
    process.stderr.write('\n');
  }
}

/** A password from standard input on request, else from the person. */
export async function secretFrom(fromStdin: boolean, question: string): Promise<string> {
  if (fromStdin) return (await text(process.stdin)).replace(/\r?\n$/, '');
  mustBeTerminal();
  return askSecret(question);
}

/** Several passwords, each on a line of standard input on request. */
export async function secretsFrom(fromStdin: boolean, questions: readonly string[]): Promise<string[]> {
  if (fromStdin) {
    const lines = (await text(process.stdin)).replace(/\r?\n$/, '').split(/\r?\n/);
    if (lines.length === questions.length) return lines;
    const names = questions.map((question) => question.replace(/: $/, '')).join(', ');
    throw new UsageError(`Standard input must have ${questions.length} lines: ${names}.`);
  }
  mustBeTerminal();
  const answers: string[] = [];
  for (const question of questions) answers.push(await askSecret(question));
  return answers;
}

function mustBeTerminal(): void {
  if (process.stdin.isTTY) return;
  throw new UsageError('Cannot prompt for the password without a terminal. Use --password-stdin.');
}

/** Irreversible actions need a yes, or `--yes`. */
export async function confirm(question: string, isSure: boolean): Promise<void> {
  if (isSure) return;
  if (!process.stdin.isTTY)
    throw new UsageError('Cannot ask for confirmation without a terminal. Use --yes.');
  const answer = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Cancelled.');
}

async function prompted(
  output: NodeJS.WritableStream,
  asked: (prompt: Interface) => Promise<string>,
): Promise<string> {
  const prompt = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await asked(prompt);
  } finally {
    prompt.close();
  }
}
