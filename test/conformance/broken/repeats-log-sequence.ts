/** Sends new log lines under the sequence of earlier ones. */
import { main } from '../reference-runner.ts';

await main({ defects: { repeatsLogSequence: true } });
