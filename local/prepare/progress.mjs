/**
 * Lines for the person who waits. They go to stderr, so that what a command prints stays clean.
 */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** Says `text` at once and, while `work` goes on, every 15 seconds how long it has taken. */
export async function withProgress(text, work) {
  const began = Date.now();
  say(`${text} ...`);
  const timer = setInterval(() => say(`  still running, ${seconds(began)} s`), 15_000);
  try {
    const result = await work();
    say(`  done in ${seconds(began)} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

function seconds(began) {
  return Math.round((Date.now() - began) / 1000);
}

/** A fault that the person can mend: printed as its sentence, without a stack. */
export class PlainError extends Error {}
