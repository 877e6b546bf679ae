/** A managed ingest that makes a session for each file, and what came into it. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Database } from '../../store/connection/database.ts';
import { ask } from '../support/api.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';

export async function managedIngest(url: string, token: string, database: Database) {
  const made = async (path: string, json: object) => {
    const answer = await ask(url, 'POST', path, { token, json });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  await ship(database);
  const template = templateFile(`captures ${randomUUID()}`, [inputNode('laps')]);
  const { id: sessionTemplateId } = await made('/api/v2/admin/session-templates', template);
  const { id: projectId } = await made('/projects', { Title: `Captures ${randomUUID()}` });
  const urlPath = `captures/${randomUUID()}`;
  const { secret } = await made('/api/v2/admin/ingests', {
    urlPath,
    projectId,
    sessionTemplateId,
    inputNode: 'laps',
    creationBehaviour: 'NewSession',
  });
  expect(await ingestedInto(database, projectId)).toEqual([]);
  return { urlPath, projectId: projectId as number, secret: secret as string };
}

/** The outputs of the project, oldest first, each with the number of sessions that have its bytes. */
export function ingestedInto(database: Database, projectId: number) {
  return database.query<{ sessions: number; sha256: string; metadata: unknown }>(
    `select (select count(distinct same.session_id)::int from node_output same where same.sha256 = o.sha256
                and same.session_id in (select id from session where project_id = $1)) as sessions, o.sha256, o.metadata
       from node_output o join session s on s.id = o.session_id where s.project_id = $1 order by o.id`,
    [projectId],
  );
}
