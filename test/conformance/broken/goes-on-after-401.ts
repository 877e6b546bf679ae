/** Continues its task when a heartbeat is refused with 401. */
import { main } from '../reference-runner.ts';

await main({ defects: { goesOnAfter401: true } });
