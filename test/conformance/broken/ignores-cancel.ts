/** Does not read cancelRequested. */
import { main } from '../reference-runner.ts';

await main({ defects: { ignoresCancel: true } });
