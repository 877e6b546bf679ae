/** Goes on with a task that a heartbeat told it was lost. */
import { main } from '../reference-runner.ts';

await main({ defects: { goesOnAfterLoss: true } });
