/** Takes an output whose answer was lost for written. */
import { main } from '../reference-runner.ts';

await main({ defects: { doesNotResend: true } });
