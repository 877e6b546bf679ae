/** Assumes that an output whose answer was lost is written. */
import { main } from '../reference-runner.ts';

await main({ defects: { doesNotResend: true } });
