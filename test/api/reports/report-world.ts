/** Reports over their own dimensions, called by people of each role. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Role } from '../../../domain/access/access.ts';
import { addSources, type DimensionSource } from '../../../store/dashboards/dimension-sources.ts';
import { apiStage, ask } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { makeGraph } from '../../support/graph.ts';

/** To be called at the top of a test file; all of it ends after the file's last test. */
export async function reportWorld() {
  const { api, people, platform } = await apiStage();
  const database = await openDatabase(platform, 4);

  const path = '/api/v2/dashboard/reports';
  const as = (
    role: Role,
    method: string,
    rest: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ) => ask(api.url, method, `${path}${rest}`, { token: people[role].token, json, headers });

  const column = (columnKey: string, expression: string, more: object = {}) => ({
    columnKey,
    name: columnKey,
    expression,
    ...more,
  });
  const report = (more: object = {}) => ({
    key: `report-${randomUUID().slice(0, 8)}`,
    name: 'A report',
    columns: [column('title', 'dimension.title')],
    ...more,
  });

  /** A separate dimension, of a session with this metadata, members and scenarios. */
  async function dimension(
    name: string,
    options: {
      readonly metadata?: object;
      readonly sources?: readonly object[];
      readonly members?: readonly string[];
      readonly scenarios?: ReadonlyArray<readonly [string, string | null, string | null]>;
    } = {},
  ) {
    const graph = await makeGraph(database, [{ name: 'input', parents: [] }]);
    await database.query('update session set metadata = $2::jsonb where id = $1', [
      graph.sessionId,
      JSON.stringify(options.metadata ?? {}),
    ]);
    await database.transaction(async (tx) => {
      const [row] = await tx.query<{ id: number }>(
        `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
         values ($1, $2, $3, 'Recording', 'next') returning id`,
        [graph.sessionId, graph.nodes.input, name],
      );
      const sources = (options.sources ?? []).map((source, at) => ({
        sourceId: at,
        position: 1,
        source: { ...(source as DimensionSource), outputId: at },
      }));
      await addSources(tx, row!.id, sources);
    });
    for (const member of options.members ?? []) {
      await database.query('insert into session_member (session_id, identifier) values ($1, $2)', [
        graph.sessionId,
        member,
      ]);
    }
    for (const [scenario, from, to] of options.scenarios ?? []) {
      await database.query(
        'insert into scenario_instance (id, session_id, scenario_name, from_at, to_at) values ($1, $2, $3, $4, $5)',
        [randomUUID(), graph.sessionId, scenario, from, to],
      );
    }
    return graph;
  }

  async function file(query: string, role: Role = 'Instructor') {
    const response = await fetch(`${api.url}${path}/download?${query}`, {
      headers: { authorization: `Bearer ${people[role].token}` },
    });
    return {
      status: response.status,
      headers: response.headers,
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  }

  const csvLines = async (key: string, query = '') => {
    const { status, bytes } = await file(`report=${key}&format=csv${query}`);
    expect(status).toBe(200);
    return bytes.toString('utf8').replace('\ufeff', '').trimEnd().split('\r\n');
  };

  return { platform, api, people, database, path, as, column, report, dimension, file, csvLines };
}
