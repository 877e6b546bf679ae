import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { inputNode, templateFile } from '../support/templates.ts';
import { recordingStage } from './recording-session.ts';
import { nestedColumns } from './tabular/hostile-parquet.ts';

const { api, client } = await recordingStage();

test('a reprocessed recording replaces its original in the dashboard, at every node', async () => {
  const session = await client.newSession();
  await session.upload({ identifier: 'one.csv', bytes: 'time,speed\n0,1\n1,2\n' });
  const second = await session.upload({ identifier: 'two.csv', bytes: 'time,speed\n0,3\n1,4\n' });
  await session.settled();
  const before = await session.dashboard();
  expect(before.sources.map(({ name }) => name)).toEqual(['one.csv', 'two.csv']);

  for (const [node, outputsOfParser] of [
    [0, 3],
    [1, 4],
    [2, 4],
  ] as const) {
    await client.call('POST', `/api/v2/node-instance/${session.nodeId(node)}/reprocess`);
    const nodes = await session.settled();
    expect(nodes.map(({ state }) => state)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
    const outputs: { metadata: { source: { outputId: number } } }[] = await client.call(
      'GET',
      `/api/v2/node-instance/${session.nodeId(1)}/outputs`,
    );
    expect(outputs).toHaveLength(outputsOfParser);
    expect(outputs.at(-1)!.metadata.source.outputId).toBe(second.outputId);
    const { sources } = await session.dashboard();
    expect(sources.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ['one.csv', 2],
      ['two.csv', 2],
    ]);
    expect(sources[0]!.outputId).toBe(before.sources[0]!.outputId);
    const drawn = (await session.dashboard()).sources[1]!;
    const [series] = await session.series(await session.dashboard(), drawn, ['speed']);
    expect(series!.values).toEqual([3, 4]);
  }
});

test('outputs of one source key are one recording, that of the newest of them', async () => {
  const session = await client.newSession();
  const upload = (identifier: string, value: number, sourceKey?: unknown) =>
    session.upload({ identifier, bytes: `time,speed\n0,${value}\n1,${value}\n`, metadata: { sourceKey } });
  const shown = async () => {
    await session.settled();
    const dashboard = await session.dashboard();
    return await Promise.all(
      dashboard.sources.map(async (source) => {
        const [series] = await session.series(dashboard, source, ['speed']);
        return [source.name, series!.values[0]];
      }),
    );
  };
  await upload('run-1', 1, 'lap 3');
  await upload('run-2', 2);
  await upload('no-name', 3, 3);
  expect(await shown()).toEqual([
    ['lap 3', 1],
    ['run-2', 2],
    ['no-name', 3],
  ]);
  await upload('run-4', 4, 'lap 3');
  expect((await shown())[0]).toEqual(['lap 3', 4]);
  await upload('run-5', 5, 'lap 3');
  await upload('run-6', 6, 'lap 3');
  await client.call('POST', `/api/v2/node-instance/${session.nodeId(0)}/reprocess`);
  expect(await shown()).toEqual([
    ['lap 3', 6],
    ['run-2', 2],
    ['no-name', 3],
  ]);
});

test('the log of a conversion calls a file as the person did who uploaded it', async () => {
  const session = await client.newSession();
  await session.upload({ identifier: 'an-id', fileName: 'stint-2.csv', bytes: 'time,speed\n0,1\n1,2\n' });
  await session.settled();
  expect(await session.log(1, 'info')).toContain('converting: stint-2.csv');
});

test('a file name that is shown cut within a character fails no run', async () => {
  const session = await client.newSession();
  const bytes = 'time,speed\n0,1\n1,2\n';
  await session.upload({ identifier: 'an-id', fileName: `${'x'.repeat(254)}😀.csv`, bytes });
  expect((await session.settled()).map(({ statusDetails }) => statusDetails)).toEqual(['', '', '']);
});

test('a refused file is listed at its node until a run over it alone, with a mended configuration, has read it', async () => {
  const session = await client.newSession();
  const node = `/api/v2/node-instance/${session.nodeId(1)}`;
  const polish = Buffer.from('t,Si\xb3a\n0,1\n1,2\n', 'latin1');
  const bad = await session.upload({ identifier: 'bad.csv', bytes: polish });
  const parser = async () => (await session.progress())[1]!;
  await eventually('it is refused', async () => (await parser()).state === 'Failed');
  expect((await parser()).statusDetails).toMatch(/^validation: bad\.csv: Line 1, .* is not UTF-8/);
  await session.upload({ identifier: 'good.csv', bytes: 't,v\n0,1\n1,2\n' });
  await session.settled();
  const list = () => client.call('GET', `${node}/rejected-inputs`);
  expect((await list()).rejectedInputs).toMatchObject([
    { outputId: bad.outputId, outputIdentifier: 'bad.csv', category: 'validation' },
  ]);
  await client.call('PUT', `${node}/configuration`, { configuration: { encoding: 'windows-1250' } });
  await client.call('POST', `${node}/reprocess`, { inputs: [bad.outputId] });
  await session.settled();
  expect((await list()).rejectedInputs).toEqual([]);
  const { sources } = await session.dashboard();
  expect(sources.map(({ channels }) => channels.map(({ name }) => name))).toEqual([['Siła'], ['v']]);
});

test('a run of a dashboard adds the new recordings and does not read the earlier ones again', async () => {
  const session = await client.newSession();
  await session.upload({ identifier: 'one.csv', bytes: 'time,speed\n0,1\n1,2\n' });
  await session.settled();
  const [first] = (await session.dashboard()).sources;
  await api.composed.services.database.query('update node_output set metadata = null where id = $1', [
    first!.outputId,
  ]);
  await session.upload({ identifier: 'two.csv', bytes: 'time,speed\n0,3\n1,4\n' });
  await session.settled();
  const dashboard = await session.dashboard();
  expect(dashboard.sources.map(({ name }) => name)).toEqual(['one.csv', 'two.csv']);
  expect(dashboard.layout!.panels.map(({ channels }) => channels)).toEqual([
    dashboard.sources.map(({ outputId }) => `${outputId}:speed`),
  ]);
  const [newest] = (await client.call('GET', `/api/v2/node-instance/${session.nodeId(2)}/outputs`)).slice(-1);
  const summary = await client.call('GET', `/api/v2/node-instance/outputs/${newest.id}/data`);
  expect(summary).toMatchObject({ sourceCount: 2, sources: [{ name: 'one.csv' }, { name: 'two.csv' }] });
});

test('a table of so many columns that its description is too large says the time, the remarks and the first channels', async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `a quite long name of channel ${at}`);
  const lines = [names, names.map((_, at) => at), names.map((_, at) => 2 * at)];
  const session = await client.newSession();
  await session.upload({ bytes: Buffer.from(lines.join('\n')), identifier: 'wide.csv' });
  await session.settled();
  const [output] = await client.call('GET', `/api/v2/node-instance/${session.nodeId(1)}/outputs`);
  const { brief, description, rowCount } = output.metadata;
  expect({ description, rowCount }).toEqual({ description: undefined, rowCount: 2 });
  expect(brief).toMatchObject({
    time: { basis: 'row-number' },
    warnings: [expect.stringContaining('no time')],
  });
  expect(brief.channels.map(({ name, max }: { name: string; max: number }) => [name, max])).toEqual(
    names.slice(0, 50).map((name, at) => [name, 2 * at]),
  );
  const dashboard = await session.dashboard();
  // All of them are read from the recording.
  const source = dashboard.sources[0]!;
  expect(source.channels.map(({ name }) => name)).toEqual(names);
  const [last] = await session.series(dashboard, source, [source.channels.at(-1)!.id]);
  expect(last!.values).toEqual([999, 1_998]);
});

test('a file that a stranger calls a recording ends no worker, and its dashboard says what is wrong with it', async () => {
  const dashboard = {
    Name: 'dashboard',
    NodeTemplateName: 'system-next-dimension',
    DefaultConfiguration: {},
  };
  const nodes = [inputNode('upload'), { ...dashboard, Parents: ['upload'] }];
  await client.call('POST', '/api/v2/admin/session-templates', templateFile('direct', nodes));
  const names = [
    [{}, 'hostile'],
    [{ fileName: 'lap 7.csv' }, 'lap 7.csv'],
    [{ fileName: 'lap 7.csv', name: 'lap 7' }, 'lap 7'],
  ] as const;
  for (const [given, shown] of names) {
    const session = await client.newSession('direct');
    const metadata = { kind: 'recording', source: { outputId: 1 }, ...given };
    await session.upload({ identifier: 'hostile', bytes: nestedColumns(200_000), metadata });
    const [, node] = await session.settled();
    expect(node).toMatchObject({
      state: 'Failed',
      statusDetails: `validation: ${shown}: The file ends the program that reads it (SIGSEGV).`,
    });
  }
});
