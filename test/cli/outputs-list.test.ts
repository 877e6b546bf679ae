/** What a session and a node hold, as a list. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { runnerStage } from '../support/runner.ts';
import { commandLine } from './support.ts';

const { runSdp, startSdp } = commandLine();
const stage = await runnerStage();
const sdp = (args: readonly string[]) =>
  runSdp(args, { SDP_URL: stage.api.url, SDP_TOKEN: stage.people.adminToken });

describe('sdp outputs list', () => {
  test('distinguishes a node without outputs from an unknown one', async () => {
    const graph = await stage.chainOf(1);
    expect((await sdp(['outputs', 'list', String(graph.nodes.input), '--json'])).out).toBe('[]\n');
    const empty = await sdp(['outputs', 'list', String(graph.nodes.input)]);
    expect([empty.code, empty.out]).toEqual([0, 'No outputs yet.\n']);
    const wrong = await sdp(['outputs', 'list', '999999', '--json']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('Node instance not found.')]);
  });

  test('lists those of a session too, newest first, or those with a name', async () => {
    const graph = await stage.chainOf(1);
    for (const name of ['lap-1', 'lap-2'])
      await stage.upload(graph, 'input', name, { 'x-platform-output-identifier': name });
    const listed = async (...args: string[]) =>
      JSON.parse((await sdp(['outputs', 'list', graph.sessionId, ...args, '--json'])).out) as object[];
    expect(await listed()).toMatchObject([{ outputIdentifier: 'lap-2' }, { outputIdentifier: 'lap-1' }]);
    expect(await listed('--search', 'P-1')).toMatchObject([{ outputIdentifier: 'lap-1' }]);
    expect(await listed('--limit', '1')).toMatchObject([{ outputIdentifier: 'lap-2' }]);
    const shown = await sdp(['outputs', 'list', graph.sessionId]);
    expect(shown.out).toMatch(new RegExp(`^ID +NODE +IDENTIFIER .*\n\\d+ +${graph.nodes.input} +lap-2 `));
    const latest = await sdp(['outputs', 'latest', String(graph.nodes.input), '--json']);
    expect(JSON.parse(latest.out)).toMatchObject({ outputIdentifier: 'lap-2' });
    const empty = await sdp(['outputs', 'latest', String(graph.nodes.n1)]);
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('has no output')]);
    const none = await sdp(['outputs', 'list', graph.sessionId, '--search', 'drive']);
    expect([none.code, none.out]).toEqual([0, 'No output has drive in its name.\n']);
    const wrong = await sdp(['outputs', 'list', String(graph.nodes.input), '--search', 'lap']);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--search needs a session')]);
    const limited = await sdp(['outputs', 'list', String(graph.nodes.input), '--limit', '1']);
    expect([limited.code, limited.err]).toEqual([2, expect.stringContaining('--limit needs a session')]);
    const named = (name: string) => ['outputs', 'list', String(graph.nodes.input), '--identifier', name];
    expect((await sdp(named('lap-1'))).out).toMatch(/^ID .*\n\d+ +lap-1 .*\n$/);
    expect((await sdp(named('lap'))).out).toBe('No output lap.\n');
    expect((await sdp(['outputs', 'list', 'lap'])).code).toBe(2);
  });

  test('prints the first page before the last one has come', async () => {
    const row = {
      nodeInstanceId: 2,
      contentType: 'text/csv',
      sizeBytes: 3,
      createdAt: '2026-03-01T10:00:00.000Z',
    };
    const seen = Promise.withResolvers<void>();
    const server = createServer(async ({ url = '' }, response) => {
      const isLast = url.includes('cursor=next');
      if (isLast) await seen.promise;
      const [id, nextCursor] = isLast ? [1, null] : [2, 'next'];
      const outputs = [{ ...row, id, outputIdentifier: `lap-${id}` }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ outputs, totalCount: 2, totalCountIsExact: true, nextCursor }));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const SDP_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const running = startSdp(['outputs', 'list', '0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10'], {
      SDP_URL,
      SDP_TOKEN: 't',
    });
    await eventually('the first page is printed', () => running.printed.out.includes('lap-2'));
    seen.resolve();
    const { code, out } = await running.ended;
    expect([code, out.match(/IDENTIFIER|lap-\d/g)]).toEqual([0, ['IDENTIFIER', 'lap-2', 'lap-1']]);
  });
});
