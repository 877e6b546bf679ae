/** Uses other output identifiers for each delivery of the same work. */
import { main } from '../reference-runner.ts';

await main({ defects: { namesOutputsByTask: true } });
