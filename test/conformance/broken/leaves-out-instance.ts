/** Does not send its instance id. */
import { main } from '../reference-runner.ts';

await main({ defects: { leavesOutInstance: true } });
