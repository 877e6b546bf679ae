/** A dashboard over one recording, as the dashboard node stores it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { TabularConfiguration } from '../../../activities/builtin/tabular/configuration.ts';
import { convertTabular } from '../../../activities/builtin/tabular/convert/convert.ts';
import type { RecordingDescription } from '../../../activities/builtin/tabular/description.ts';
import { dashboardRoutes } from '../../../api/dashboards/routes.ts';
import { layoutRoutes } from '../../../api/layouts/routes.ts';
import { projectRoutes } from '../../../api/projects/routes.ts';
import { sessionTemplateRoutes } from '../../../api/session-templates/routes.ts';
import { sessionRoutes } from '../../../api/sessions/routes.ts';
import { addSources, type DimensionSource } from '../../../store/dashboards/dimension-sources.ts';
import { ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { newOutputKey } from '../../../store/objects/object-store.ts';
import { apiStage, ask } from '../../support/api.ts';
import { inputNode, ship, templateFile } from '../../support/templates.ts';

/** Call it at the top of a test file; everything ends after the file's last test. */
export async function dashboardWorld() {
  const rows = 5000;
  const firstMs = Date.UTC(2026, 0, 1);

  const routes = [
    ...dashboardRoutes,
    ...layoutRoutes,
    ...sessionRoutes,
    ...projectRoutes,
    ...sessionTemplateRoutes,
  ];
  const { api, people } = await apiStage({ routes });
  await ship(api.composed.services.database);
  const folder = await mkdtemp(join(tmpdir(), 'sdp-dashboards-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const call = (path: string, json: unknown) =>
    ask(api.url, 'POST', path, { token: people.Developer.token, json });
  const get = (path: string, token = people.Developer.token) =>
    ask(api.url, 'GET', `/api/v2/dashboard/dimensions/${path}`, { token });

  const { body: project } = await call('/projects', { Title: 'Drives' });
  const file = templateFile('drawn', ['a', 'b', 'c', 'd', 'e', 'f'].map(inputNode));
  const { body: template } = await call('/api/v2/admin/session-templates', file);
  const json = { ProjectId: project.id, SessionTemplateId: template.id, Email: people.Trainee.email };
  const session: { id: string; name: string; nodeInstances: { id: number }[] } = (
    await call('/session', json)
  ).body;

  /** Stores a recording of a sine and a text, and a dimension over it, as the dashboard node does. */
  async function makeDimension(): Promise<number> {
    const lines = Array.from({ length: rows }, (_, row) => {
      const time = new Date(firstMs + row * 1000).toISOString();
      return `${time},${row === 1234 ? 1000 : Math.sin(row / 50)},${row % 2 === 0 ? 'left' : 'right'}`;
    });
    return await insertDimension('a', [await record(7, `time,speed [m/s],side\n${lines.join('\n')}\n`)]);
  }

  /** Stores a recording made of a csv file; it is the source of a dimension. */
  async function record(outputId: number, csv: string, configuration: TabularConfiguration = {}) {
    const inputPath = join(folder, 'upload.csv');
    await writeFile(inputPath, csv);
    const outputPath = join(folder, 'recording.parquet');
    const { description } = await convertTabular({
      inputPath,
      contentType: 'text/csv',
      outputIdentifier: 'drive.csv',
      source: { outputId: 1, outputIdentifier: 'drive.csv' },
      configuration,
      outputPath,
      workDir: folder,
      memoryLimitBytes: 256 * 1024 * 1024,
    });
    const { database, objects } = api.composed.services;
    const source = await ensurePlatformDataSource(database, objects.platformAccess);
    const objectKey = newOutputKey();
    await objects
      .of(source)
      .put(objectKey, createReadStream(outputPath), { signal: new AbortController().signal });
    const sha256 = createHash('sha256')
      .update(await readFile(outputPath))
      .digest('hex');
    return dimensionSource(outputId, description, source.id, objectKey, sha256);
  }

  function dimensionSource(
    outputId: number,
    description: RecordingDescription,
    dataSourceId: number,
    objectKey: string,
    sha256: string | null,
  ) {
    return {
      outputId,
      name: 'drive.csv',
      realm: 'default',
      time: {
        kind: description.time.kind,
        from: new Date(description.time.from).toISOString(),
        to: new Date(description.time.to).toISOString(),
      },
      rowCount: description.rowCount,
      groups: description.groups,
      channels: description.channels.map(({ id, name, unit, type, group, realm }) => ({
        key: `${outputId}:${id}`,
        id,
        name,
        unit,
        type,
        group,
        realm,
      })),
      dataSourceId,
      objectKey,
      sha256,
      description,
    };
  }

  async function insertDimension(
    node: 'a' | 'b' | 'c' | 'd' | 'e' | 'f',
    sources: readonly DimensionSource[],
  ): Promise<number> {
    return await api.composed.services.database.transaction(async (tx) => {
      const [row] = await tx.query<{ id: number }>(
        `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version, layout)
         values ($1, $2, 'Recording', 'Recording', 'next', '{"version":1,"panels":[]}') returning id`,
        [session.id, session.nodeInstances['abcdef'.indexOf(node)]!.id],
      );
      const added = sources.map((source) => ({ sourceId: source.outputId, position: 1, source }));
      await addSources(tx, row!.id, added);
      return row!.id;
    });
  }

  const dimensionId = await makeDimension();

  return {
    api,
    folder,
    people,
    project,
    session,
    template,
    dimensionId,
    rows,
    firstMs,
    call,
    get,
    dimensionSource,
    insertDimension,
    record,
  };
}
