/** Asks for the next task with an end, and claims another instead of it. */
import { main } from '../reference-runner.ts';

await main({ defects: { dropsNext: true } });
