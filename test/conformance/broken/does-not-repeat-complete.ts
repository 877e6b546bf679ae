/** Sends complete once, whatever becomes of it. */
import { main } from '../reference-runner.ts';

await main({ defects: { doesNotRepeatComplete: true } });
