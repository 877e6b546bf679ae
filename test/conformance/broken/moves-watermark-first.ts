/** Moves the watermark past its inputs and writes their output afterwards. */
import { main } from '../reference-runner.ts';

await main({ incremental: true, defects: { movesWatermarkFirst: true } });
