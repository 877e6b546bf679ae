/** Reads the first page of its inputs alone. */
import { main } from '../reference-runner.ts';

await main({ defects: { ignoresCursor: true } });
