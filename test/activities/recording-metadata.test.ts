/** What the metadata of a recording say of it. */
import { expect, test } from 'vitest';
import { recordingStage } from './recording-session.ts';

const { client } = await recordingStage();

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
