/**
 * Lines for the person who waits. They go to stderr, so that what a command prints stays clean.
 */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/**
 * Says `text` at once and, while `work` goes on, every 15 seconds how long it has taken. Several may go on at once: each
 * line begins with the text, without what it has in brackets.
 */
export async function withProgress(text, work) {
  const began = Date.now();
  const what = text.replace(/ \(.*\)$/, '');
  say(`${text} ...`);
  const timer = setInterval(() => say(`  ${what}: ${seconds(began)} s`), 15_000);
  try {
    const result = await work();
    say(`  ${what}: done in ${seconds(began)} s`);
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
