/** Treats 401 as a temporary fault, and repeats at once. */
import { main } from '../reference-runner.ts';

await main({ defects: { hammersAfter401: true } });
