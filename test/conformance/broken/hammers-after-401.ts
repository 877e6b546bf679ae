/** Takes 401 for a fault that passes, and asks again at once. */
import { main } from '../reference-runner.ts';

await main({ defects: { hammersAfter401: true } });
