/** Sends an output under another identifier each time. */
import { main } from '../reference-runner.ts';

await main({ defects: { changesIdentifier: true } });
