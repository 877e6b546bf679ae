// Health checks of containers, which have no other program for them: check.mjs <address> | check.mjs --fresh <file>
import { statSync } from 'node:fs';

const freshSeconds = 60;
const [what, file] = process.argv.slice(2);
try {
  if (what === '--fresh') {
    const ageSeconds = (Date.now() - statSync(file).mtimeMs) / 1000;
    if (ageSeconds > freshSeconds) throw new Error(`${file} is ${Math.round(ageSeconds)} s old`);
  } else {
    const { status } = await fetch(what, { signal: AbortSignal.timeout(4_000) });
    if (status !== 200) throw new Error(`${what} answers ${status}`);
  }
} catch (error) {
  console.error(String(error));
  process.exit(1);
}
