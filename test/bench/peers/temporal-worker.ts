/** Runs the workflows of the benchmark of Temporal alone: `node temporal-worker.ts ADDRESS NAMESPACE TASK-QUEUE`. */
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';

const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2);
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('temporal-workflow.ts', import.meta.url)),
});
console.log('ready');
await worker.run();
