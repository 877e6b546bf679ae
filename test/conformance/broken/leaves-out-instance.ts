/** Does not say which instance it is. */
import { main } from '../reference-runner.ts';

await main({ defects: { leavesOutInstance: true } });
