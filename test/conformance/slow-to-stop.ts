/** Correct, and slow to stop. */
import { main } from './reference-runner.ts';

await main({ stopDelayMs: 1_000 });
