/** Sends 17 MB in one request. */
import { main } from '../reference-runner.ts';

await main({ defects: { writesTooMuch: true } });
