import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { testProcesses } from '../../../support/processes.ts';
import { runnerStage } from '../../../support/runner.ts';
import { taskUploads } from '../../../support/task-uploads.ts';

const stage = await runnerStage();
const { people, platform } = stage;
const processes = testProcesses(platform.environment);
const mebibyte = 1024 * 1024;
const parts = Number(process.env.UPLOAD_PARTS ?? 6);
const partBytes = 100 * mebibyte;

/** Largest memory of a process so far, in MiB. */
function peakMebibytes(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

function bytes(size: number): Readable {
  const piece = Buffer.alloc(65_536, 7);
  let left = size;
  return new Readable({
    read() {
      const count = Math.min(left, piece.length);
      left -= count;
      this.push(count === 0 ? null : piece.subarray(0, count));
    },
  });
}

test.skipIf(!existsSync('/proc/self/status'))(
  'several concurrent parts of 100 MB use the memory of a few pieces',
  async () => {
    const server = await processes.startApi();
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', 'x');
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const uploads = taskUploads(server.url, people.Developer.token, runner.instanceId);
    const handle = await uploads.begin(taskId);
    const putOnce = (part: number) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          `${server.url}/api/v2/runner/tasks/${taskId}/outputs/uploads/${handle}/parts/${part}`,
          {
            method: 'PUT',
            agent: false,
            headers: {
              authorization: `Bearer ${people.Developer.token}`,
              'x-platform-runner-instance': runner.instanceId,
              'content-length': partBytes,
            },
          },
          (response) => void buffer(response).then(() => resolve(response.statusCode ?? 0), reject),
        );
        sent.on('error', reject);
        bytes(partBytes).pipe(sent);
      });
    // A busy platform refuses a part, which is then sent again.
    const put = (part: number) =>
      eventually(`part ${part}`, async () => {
        const status = await putOnce(part);
        return status !== 503 && status;
      });
    const before = peakMebibytes(server.pid);
    const startedAt = performance.now();
    const statuses = await Promise.all(Array.from({ length: parts }, (_, at) => put(at + 1)));
    const seconds = (performance.now() - startedAt) / 1_000;
    if (process.env.UPLOAD_PARTS !== undefined) {
      const growth = peakMebibytes(server.pid) - before;
      console.log(`${(parts * 100) / seconds} MB/s, ${growth} MiB more at the peak`);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(peakMebibytes(server.pid) - before).toBeLessThan(150);
    const completed = await uploads.complete(taskId, handle);
    expect([completed.status, completed.body.sizeBytes]).toEqual([201, parts * partBytes]);
    server.kill('SIGKILL');
    await server.ended;
  },
);
