/** Treats the bytes of a broken download as the whole input. */
import { main } from '../reference-runner.ts';

await main({ defects: { usesHalfInputs: true } });
