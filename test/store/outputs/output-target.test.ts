import { expect, test } from 'vitest';
import { outputDataSource } from '../../../store/outputs/output-target.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, makeGraph } from '../../support/graph.ts';
import { runWorld } from '../runs/run-world.ts';

const { database } = await databaseStage(4);
const { ownTemplate } = runWorld(database);

const place = {
  kind: 's3',
  endpoint: 'http://127.0.0.1:1',
  region: '',
  bucket: 'b',
  prefix: '',
  force_path_style: true,
};

test('outputs go where the nearest configuration names a data source, whatever text a configuration is', async () => {
  await database.query(
    `insert into data_source (name, kind, endpoint, region, bucket, prefix, force_path_style)
     values ('own', $1, $2, $3, $4, $5, $6), ('parent', $1, $2, $3, $4, $5, $6)`,
    Object.values(place),
  );
  const graph = await makeGraph(database, chain(1, await ownTemplate()));
  const { input, n1 } = graph.nodes as Record<string, number>;
  const configure = (node: number, configuration: string) =>
    database.query('update node_instance set configuration = $2 where id = $1', [node, configuration]);
  const nameWith = async (own: string) => {
    await configure(n1!, own);
    return (await outputDataSource(database, n1!))?.name;
  };
  await configure(input!, '{}');
  expect(await nameWith('{}')).toBe('platform');
  await configure(input!, '{"dataSourceName":"parent"}');
  expect(await nameWith('{"dataSourceName":"own"}')).toBe('own');
  for (const unnamed of [
    '{}',
    '[]',
    '"own"',
    'null',
    'no json',
    '{"dataSourceName":""}',
    '{"dataSourceName":7}',
  ])
    expect(await nameWith(unnamed), unnamed).toBe('parent');
  for (const unstorable of ['\\u0000', '\\ud800'])
    expect(await nameWith(`{"dataSourceName":"${unstorable}"}`), unstorable).toBe('parent');
  for (const unknown of ['nobody', '\\"own\\"'])
    expect(await nameWith(`{"dataSourceName":"${unknown}"}`), unknown).toBe(undefined);
});
