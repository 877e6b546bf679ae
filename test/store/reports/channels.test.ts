import { expect, test } from 'vitest';
import type { Reader } from '../../../store/connection/database.ts';
import { channelsOf } from '../../../store/reports/channels.ts';
import { databaseStage } from '../../support/databases.ts';

const { database } = await databaseStage(1);
const count = 20;

/** As `explain (analyze, format json)` shows it. */
interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function rowsOf(node: PlanNode): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own);
}

test('statistics of channels read each recording once, however many dashboards a report shows', async () => {
  await database.transaction(async (tx) => {
    // In place of the table, for this transaction.
    await tx.query(
      `create temporary table dimension_source on commit drop as
       select dimension_id, jsonb_build_object('rowCount', 3, 'description', jsonb_build_object('channels',
                (select jsonb_agg(jsonb_build_object('name', name, 'unit', 'm', 'nullCount', 1, 'min', recording,
                          'max', recording + 2, 'mean', recording + 1, 'standardDeviation', 1))
                   from unnest(array['speed', 'height', 'other']) name))) as source
         from generate_series(1, $1) dimension_id, generate_series(1, $1) recording`,
      [count],
    );
    await tx.query('analyze dimension_source');
    const asked: { text: string; parameters: unknown[] }[] = [];
    const reader = {
      query: (text: string, parameters: unknown[]) => {
        asked.push({ text, parameters });
        return tx.query(text, parameters);
      },
    } as unknown as Reader;
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const found = await channelsOf(reader, ids, new Set(['speed', 'height']));
    expect([found.size, found.get(1)?.speed]).toMatchObject([
      count,
      { unit: 'm', count: 2 * count, missing: count, min: 1, max: count + 2, mean: (count + 3) / 2 },
    ]);
    const { text, parameters } = asked[0]!;
    const [plan] = await tx.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
      `explain (analyze, format json) ${text}`,
      parameters,
    );
    const recordings = count * count;
    expect(rowsOf(plan!['QUERY PLAN'][0]!.Plan)).toBeLessThan(20 * recordings);
  });
});
