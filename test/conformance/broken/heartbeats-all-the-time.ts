/** Sends twenty heartbeats a second. */
import { main } from '../reference-runner.ts';

await main({ defects: { heartbeatsAllTheTime: true } });
