/** Correct, and takes its time when it is to stop. */
import { main } from './reference-runner.ts';

await main({ stopDelayMs: 1_000 });
