/** A session whose making fails at a statement that was sent ahead. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiStage, ask } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { inputNode, ship, templateFile } from '../../support/templates.ts';

const { platform, api, people } = await apiStage();
const database = await openDatabase(platform, 2);
const token = people.Developer.token;
const call = (path: string, json: unknown) => ask(api.url, 'POST', path, { token, json });

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(async () => {
  process.on('unhandledRejection', note);
  await ship(database);
  await database.query('create sequence insertion');
});
afterAll(() => process.off('unhandledRejection', note));

/** Insertions of nodes fail with the code, up to this many of them. */
async function failing(times: number, code: string) {
  await database.query(`alter sequence insertion restart`);
  await database.query(`
    create or replace function fail() returns trigger security definer language plpgsql as $$ begin
      if nextval('insertion') <= ${times} then raise exception 'by the test' using errcode = '${code}'; end if;
      return null;
    end $$`);
  await database.query(`
    create or replace trigger fail before insert on node_instance for each statement execute function fail()`);
}

test('it is tried again after a conflict, and refused after another failure, without a rejection of its own', async () => {
  const project = await call('/projects', { Title: 'Failures' });
  const template = await call('/api/v2/admin/session-templates', templateFile('one', [inputNode('upload')]));
  const made = { ProjectId: project.body.id, SessionTemplateId: template.body.id };
  await failing(1, '40001');
  expect((await call('/session', made)).status).toBe(201);
  await failing(1, '23514');
  expect((await call('/session', made)).status).toBe(500);
  expect((await call('/session', made)).status).toBe(201);
  const counts = await database.query(`
    select (select count(*) from session) as sessions, (select count(*) from node_instance) as nodes`);
  expect(counts).toEqual([{ sessions: 2, nodes: 2 }]);
  // Node reports a rejection that is not handled once the turn in which it came is over.
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});
