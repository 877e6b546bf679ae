/** Sends complete once, also when it gets no answer. */
import { main } from '../reference-runner.ts';

await main({ defects: { doesNotRepeatComplete: true } });
