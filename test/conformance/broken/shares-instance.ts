/** Claims under one instance id in every copy. */
import { main } from '../reference-runner.ts';

await main({ defects: { sharesInstance: true } });
