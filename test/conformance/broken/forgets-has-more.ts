/** Completes at the cap as if nothing were left. */
import { main } from '../reference-runner.ts';

await main({ incremental: true, defects: { forgetsHasMore: true } });
