/** Makes the workflow bundle ahead of time, into a folder for WORKFLOW_CACHE_DIR: `node worker/write-bundle.ts <folder>`. */
import { writeBundle } from './bundle.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: write-bundle.ts <folder>');
  process.exit(1);
}
await writeBundle(folder);
