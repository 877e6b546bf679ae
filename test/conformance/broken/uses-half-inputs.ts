/** Takes what came of a broken download for the whole. */
import { main } from '../reference-runner.ts';

await main({ defects: { usesHalfInputs: true } });
