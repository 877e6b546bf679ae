/** Kits and command line read large bytes from the store where the platform sends them there. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';
import { defineRunner } from '../../sdk/index.ts';
import { commandLine } from '../cli/support.ts';
import { pythonEnvironment } from '../python/environment.ts';
import { testProcesses } from '../support/processes.ts';
import type { StageGraph } from '../support/runner.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

// Clients reach the store through it.
const store = await faultProxy(inject('stackEnvironment').S3_ENDPOINT ?? '');
const stage = await kitStage({ S3_DOWNLOAD_ENDPOINT: store.url });
const { folder, runSdp } = commandLine();
const { python = 'python3', missing } = pythonEnvironment();
const processes = testProcesses({ PYTHONUNBUFFERED: '1' });
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const bytes = randomBytes(3 * 1024 * 1024);

/** Starts a runner that writes the digest of its one input. */
type Start = (graph: StageGraph) => Promise<unknown>;
const typescriptRunner: Start = ({ template }) =>
  stage.start(
    defineRunner({
      templates: [template],
      async run(task) {
        for await (const input of task.inputs()) await task.write(sha256(await input.bytes()));
      },
    }),
  );
const pythonRunner: Start = async ({ template }) => {
  const module = join(folder, `digest_${template.slice(2, 10)}.py`);
  writeFileSync(
    module,
    `import hashlib, sdp
@sdp.runner(templates=["${template}"])
def digest(task):
    for item in task.inputs():
        task.write(hashlib.sha256(item.bytes()).hexdigest())
`,
  );
  const variables = { SDP_URL: stage.api.url, SDP_RUNNER_TOKEN: stage.people.Developer.token };
  processes.startScript('-m', variables, { program: python, args: ['sdp', module] });
};

const languages = [
  { language: 'TypeScript', start: typescriptRunner },
  ...(missing === '' ? [{ language: 'Python', start: pythonRunner }] : []),
];

/** What the store was asked for from now on. */
function asked() {
  const before = store.seen.length;
  return () => store.seen.slice(before).filter(({ method }) => method === 'GET');
}

describe.each(languages)('a runner in $language', ({ start }) => {
  async function digestOf(stored: Uint8Array, headers: Record<string, string> = {}): Promise<string> {
    const graph = await stage.chainOf(1, { maxAttempts: 1 });
    await stage.upload(graph, 'input', stored, headers);
    await start(graph);
    await stage.until(graph, 'n1', 'Succeeded');
    return await stage.latest(graph, 'n1');
  }

  test('reads a large input from the store, which does not see its token', async () => {
    const seen = asked();
    expect(await digestOf(bytes)).toBe(sha256(bytes));
    expect(seen()).toHaveLength(1);
    expect(seen()[0]?.headers.authorization).toBeUndefined();
  });

  test.each([0, 1_000_000])(
    'continues through the platform where a connection to the store broke after %i bytes',
    async (answerBytes) => {
      const seen = asked();
      store.spoil(/^GET/, { answerBytes });
      expect(await digestOf(bytes)).toBe(sha256(bytes));
      expect(seen()).toHaveLength(1);
    },
  );

  test.each(['refuse', { status: 403 }, { status: 200 }, { otherByteAt: bytes.length - 1 }] as const)(
    'reads through the platform after %j',
    async (fault) => {
      const seen = asked();
      store.spoil(/^GET/, fault);
      expect(await digestOf(bytes)).toBe(sha256(bytes));
      expect(seen()).toHaveLength(1);
    },
  );

  test.each([10, 1_000_000])(
    'reads packed bytes through the platform where byte %i is another',
    async (otherByteAt) => {
      const seen = asked();
      store.spoil(/^GET/, { otherByteAt });
      expect(await digestOf(gzipSync(bytes), { 'content-encoding': 'gzip' })).toBe(sha256(bytes));
      expect(seen()).toHaveLength(1);
    },
  );
});

test.each(languages)(
  'a runner in $language fails by bytes that are not those of the platform',
  async ({ start }) => {
    const graph = await stage.chainOf(1, { maxAttempts: 1 });
    const { id } = (await stage.upload(graph, 'input', bytes)).body;
    await stage.database.query('update node_output set sha256 = $2 where id = $1', [id, sha256(Buffer.of())]);
    const seen = asked();
    await start(graph);
    await stage.until(graph, 'n1', 'Failed');
    const { statusDetails } = await stage.node(graph, 'n1');
    expect(statusDetails).toContain(`Input ${id} came with other bytes: their SHA-256 is ${sha256(bytes)}`);
    // The second read was made through the platform.
    expect(seen()).toHaveLength(1);
  },
);

describe('a download', () => {
  async function storedOutput(): Promise<number> {
    const graph = await stage.chainOf(1);
    return (await stage.upload(graph, 'input', bytes)).body.id;
  }
  const signedIn = { SDP_URL: stage.api.url, SDP_TOKEN: stage.people.Developer.token };

  const ways = [
    { way: 'from the store', faults: [] },
    { way: 'broken', faults: ['refuse'] },
    { way: 'refused', faults: [{ status: 403 }] },
    { way: 'other bytes', faults: [{ status: 200 }] },
    { way: 'another byte', faults: [{ otherByteAt: bytes.length - 1 }] },
    { way: 'silent', faults: [{ heldUntil: new Promise<void>(() => undefined) }] },
  ] as const;
  test.each(ways)('of the command line: $way', async ({ way, faults }) => {
    const output = await storedOutput();
    const seen = asked();
    store.spoil(/^GET/, ...faults);
    const file = join(folder, way);
    const { code, err } = await runSdp(['outputs', 'download', String(output), '--out', file], signedIn);
    expect([code, err]).toEqual([0, expect.any(String)]);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(seen().map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test.skipIf(missing !== '').each([{ status: 200 }, { otherByteAt: bytes.length - 1 }] as const)(
    'of the Python client through the platform, after %j',
    async (fault) => {
      const graph = await stage.chainOf(1);
      await stage.upload(graph, 'input', bytes);
      const seen = asked();
      store.spoil(/^GET/, fault);
      const script = `
import hashlib
from sdp.client import Platform
node = Platform("${stage.api.url}", token="${stage.people.Developer.token}").session("${graph.sessionId}").node("input")
print(hashlib.sha256(node.latest.bytes()).hexdigest())
`;
      const { stdout } = await promisify(execFile)(python, ['-c', script]);
      expect([stdout.trim(), seen().length]).toEqual([sha256(bytes), 1]);
    },
  );

  test('whose bytes at the store are not those of the platform is refused by the command line', async () => {
    const output = await storedOutput();
    await stage.database.query(`update node_output set sha256 = $2 where id = $1`, [
      output,
      sha256(Buffer.of()),
    ]);
    const seen = asked();
    const file = join(folder, 'other');
    const { code, err } = await runSdp(['outputs', 'download', String(output), '--out', file], signedIn);
    expect([code, err]).toEqual([expect.any(Number), expect.stringContaining('checksum')]);
    expect(code).not.toBe(0);
    expect(existsSync(file)).toBe(false);
    // The second read was made through the platform.
    expect(seen()).toHaveLength(1);
  });
});
