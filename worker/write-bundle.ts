/** Makes the workflow bundle ahead of time, into a folder for WORKFLOW_CACHE_DIR: `node worker/write-bundle.ts <folder>`. */
import { writeBundle } from './bundle.ts';

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-') || others.length > 0) {
  console.error('Usage: node worker/write-bundle.ts <folder>');
  process.exit(folder === '--help' || folder === '-h' ? 0 : 1);
}
await writeBundle(folder);
