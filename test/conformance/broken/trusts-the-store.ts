/** Takes whatever answers at the address of an input for the input. */
import { main } from '../reference-runner.ts';

await main({ defects: { trustsTheStore: true } });
