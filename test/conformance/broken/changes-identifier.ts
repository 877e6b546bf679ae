/** Gives an output another identifier each time it sends it. */
import { main } from '../reference-runner.ts';

await main({ defects: { changesIdentifier: true } });
