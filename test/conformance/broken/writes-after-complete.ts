/** Writes an output for a task that it has completed. */
import { main } from '../reference-runner.ts';

await main({ defects: { writesAfterComplete: true } });
