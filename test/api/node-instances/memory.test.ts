import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { tokenOf } from '../../support/api.ts';
import { databaseStage } from '../../support/databases.ts';
import { makeGraph } from '../../support/graph.ts';
import { testProcesses } from '../../support/processes.ts';

const mebibyte = 1024 * 1024;
const canMeasure = existsSync('/proc/self/status');
const { database, platform } = await databaseStage(2);
const processes = testProcesses(platform.environment);

/** Largest memory of a process so far, in MiB. */
function peakMebibytes(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

/** A body of `size` bytes without a length, in pieces of 64 KB. */
function body(size: number): Readable {
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

describe.skipIf(!canMeasure)('the memory of the API stays bounded for any upload', () => {
  test.each([
    ['200 uploads of 1 byte', 200, 1, 100],
    ['64 uploads of 8 MB', 64, 8 * mebibyte, 250],
    ['one upload of 400 MB', 1, 400 * mebibyte, 150],
  ])('%s, at once and chunked', async (_name, count, size, growthMebibytes) => {
    const source = { ...platform.s3, prefix: '', forcePathStyle: true };
    await ensurePlatformDataSource(database, source);
    const { nodes } = await makeGraph(database, [{ name: 'input', parents: [] }]);
    await database.query(
      `update node_instance set configuration = '{"dataSourceName":"platform"}' where id = $1`,
      [nodes.input],
    );
    const api = await processes.startApi();
    const token = await tokenOf(api.url, platform.administrator.username, platform.administrator.password);
    const upload = () =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          `${api.url}/api/v2/node-instance/${nodes.input}/outputs/data`,
          { method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } },
          (response) => void buffer(response).then(() => resolve(response.statusCode ?? 0), reject),
        );
        sent.on('error', reject);
        body(size).pipe(sent);
      });
    const before = peakMebibytes(api.pid);
    const statuses = await Promise.all(Array.from({ length: count }, upload));
    expect([...new Set(statuses)]).toEqual([201]);
    expect(peakMebibytes(api.pid) - before).toBeLessThan(growthMebibytes);
    api.kill('SIGKILL');
    await api.ended;
  });
});
