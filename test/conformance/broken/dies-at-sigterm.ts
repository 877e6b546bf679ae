/** Ends at SIGTERM as it stands. */
import { main } from '../reference-runner.ts';

await main({ defects: { diesAtSigterm: true } });
