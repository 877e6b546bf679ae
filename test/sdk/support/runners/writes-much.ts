/** Nodes named `n1` write `SIZE_MB` of bytes that do not repeat, others copy; the most memory used goes to the log. */
import { createHash } from 'node:crypto';
import { defineRunner } from '../../../../sdk/index.ts';

const blockBytes = 100_000;
const sizeBytes = Number(process.env.SIZE_MB) * 1024 * 1024;

function* blocks(): Generator<Buffer> {
  // One buffer for all, so that the test measures the kit's memory and not garbage.
  const block = Buffer.alloc(blockBytes);
  for (let sent = 0; sent < sizeBytes; sent += blockBytes) {
    const seed = createHash('sha256').update(String(sent)).digest();
    yield block.fill(seed).subarray(0, sizeBytes - sent);
  }
}

export default defineRunner({
  name: 'writes-much',
  templates: [process.env.TEMPLATE ?? ''],
  async run(task) {
    if (task.nodeName === 'n1') await task.write(blocks());
    else for await (const input of task.inputs('latest')) await task.write(input.stream());
    const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
    console.error(`${task.nodeName} peak ${peakMegabytes} MB`);
  },
});
