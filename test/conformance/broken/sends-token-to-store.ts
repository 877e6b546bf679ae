/** Reads inputs at the store with the headers that are for the platform. */
import { main } from '../reference-runner.ts';

await main({ defects: { sendsTokenToStore: true } });
