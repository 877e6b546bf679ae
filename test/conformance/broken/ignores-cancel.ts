/** Does not look at cancelRequested. */
import { main } from '../reference-runner.ts';

await main({ defects: { ignoresCancel: true } });
