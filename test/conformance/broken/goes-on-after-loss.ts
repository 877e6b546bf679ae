/** Continues a task after a heartbeat's answer that it is lost. */
import { main } from '../reference-runner.ts';

await main({ defects: { goesOnAfterLoss: true } });
