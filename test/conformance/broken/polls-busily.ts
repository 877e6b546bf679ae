/** Asks for work without waiting, again and again. */
import { main } from '../reference-runner.ts';

await main({ defects: { pollsBusily: true } });
