/** Deleting sessions. Run by change.test.ts in its world. */
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import { s3Client } from '../../support/bucket.ts';
import type { TestEnvironment } from '../../support/stack.ts';
import { refused, type SessionWorld, sessionCreator } from './support.ts';

export function deleteTests(world: SessionWorld, platform: TestEnvironment): void {
  const create = sessionCreator(world);

  describe('DELETE /api/v2/sessions/{id}', () => {
    const remove = (id: string, token = world.people.adminToken) =>
      world.call('DELETE', `/api/v2/sessions/${id}`, undefined, token);

    test('leaves no row and no object of any version of the session, and changes no other', async () => {
      const { database, objects } = world.api.composed.services;
      const kept = await create();
      expect((await world.upload(kept.nodeInstances[0].id, 'kept')).status).toBe(201);
      const { body: session } = await world.join({ name: 'to be deleted' });
      const [input, out] = session.node_instances.map((node: { id: number }) => node.id);
      const upload = (bytes: string) =>
        fetch(`${world.api.url}/api/v2/node-instance/${input}/outputs/data`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${world.people.offlineToken}`,
            'x-platform-output-identifier': 'same',
          },
          body: bytes,
        });
      for (const bytes of ['first', 'second', 'third']) expect((await upload(bytes)).ok).toBe(true);
      expect((await world.upload(input, 'another')).status).toBe(201);
      // What a task that has not ended wrote.
      const [run] = await world.query<{ id: string }>('select id from node_run where node_instance_id = $1', [
        out,
      ]);
      await world.query(
        `insert into node_output (session_id, node_instance_id, run_id, data_source_id, object_key, output_identifier,
                                  size_bytes, etag, configuration)
         select session_id, $2, $3, data_source_id, 'outputs/staged', 'staged', 1, 'e', '{}'
           from node_output where node_instance_id = $1 limit 1`,
        [input, out, run!.id],
      );
      const before = await keysInBucket();
      expect((await remove(session.id)).status).toBe(204);
      expect((await remove(session.id)).status).toBe(404);
      expect((await world.call('GET', `/api/v2/sessions/${session.id}`)).status).toBe(404);
      // Who did what to it is kept.
      expect(await rowsOf(session.id)).toEqual(['audit_entry']);
      const queued = await world.query<{ objectKey: string }>('select object_key from object_deletion');
      expect(queued.map((row) => row.objectKey)).toContain('outputs/staged');
      while ((await sweepAbandonedObjects(database, objects, { olderThanSeconds: 3_600 })).deleted > 0);
      const after = await keysInBucket();
      expect(before.length - after.length).toBe(4);
      const left = await world.call(
        'GET',
        `/api/v2/node-instance/${kept.nodeInstances[0].id}/outputs/latest/data`,
      );
      expect(left.body).toBe('kept');
    });

    test('is for Administrators with an access token', async () => {
      const { people } = world;
      const session = await create();
      expect((await remove(session.id, people.offlineToken)).status).toBe(403);
      for (const person of [people.Developer, people.Instructor, people.Trainee])
        expect((await remove(session.id, person.token)).status).toBe(401);
      expect((await remove(session.id, people.Administrator.token)).status).toBe(204);
      expect(await remove('abc')).toMatchObject(refused(404, 'Session not found.'));
    });

    async function keysInBucket(): Promise<string[]> {
      const client = s3Client(platform.environment);
      const page = await client.send(new ListObjectsV2Command({ Bucket: platform.s3.bucket }));
      client.destroy();
      return (page.Contents ?? []).map((object) => object.Key ?? '');
    }

    /** Names of the tables that contain the session's id. */
    async function rowsOf(sessionId: string): Promise<string[]> {
      const columns = await world.query<{ table: string; column: string }>(
        `select c.table_name as table, c.column_name as column
           from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
          where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type = 'uuid'`,
      );
      const found: string[] = [];
      for (const { table, column } of columns) {
        const rows = await world.query(`select 1 from "${table}" where "${column}" = $1`, [sessionId]);
        if (rows.length > 0 && table !== 'session_ending') found.push(table);
      }
      return found;
    }
  });
}
