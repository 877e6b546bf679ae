/** Ends at SIGTERM at once, and leaves its task. */
import { main } from '../reference-runner.ts';

await main({ defects: { diesAtSigterm: true } });
