/** Sends no heartbeats. */
import { main } from '../reference-runner.ts';

await main({ defects: { forgetsHeartbeat: true } });
