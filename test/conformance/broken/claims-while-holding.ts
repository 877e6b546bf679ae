/** Claims again with the instance that holds a task. */
import { main } from '../reference-runner.ts';

await main({ defects: { claimsWhileHolding: true } });
