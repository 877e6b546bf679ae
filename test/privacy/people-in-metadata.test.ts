import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SessionWorld, sessionWorld } from '../api/sessions/support.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
let world: SessionWorld;
beforeAll(async () => {
  world = await sessionWorld(platform);
});
afterAll(() => world.api.stop());

const address = 'Zo\u00eb.Canary@Example.org';
/** However callers write the people of a session. */
const forms: [string, unknown][] = [
  ['text', address],
  ['text with blanks', `  ${address} `],
  ['decomposed letters', address.normalize('NFD')],
  ['a name and an address', `Zoe <${address}>`],
  ['a link', `mailto:${address}`],
  ['several in one text', `${address}, ${address.toLowerCase()}`],
  ['an address that only mail systems know', '"zoe canary"@example.org'],
  ['a list', [address]],
  ['a list of lists', [[address]]],
  ['an object', { email: address }],
  [
    'a list of objects',
    [
      { email: address, role: 'pilot' },
      { email: ` ${address}`, id: 'x' },
    ],
  ],
  ['an object of another form', { mail: address, deep: { er: [address] } }],
  ['names of fields', { [address]: { role: 'pilot' } }],
];

const stored = async (id: string) => {
  const [row] = await world.query<{ row: string }>('select s::text as row from session s where id = $1', [
    id,
  ]);
  return row?.row.toLowerCase() ?? '';
};

describe.each(['openedBy', 'closedBy', 'participants'])('people under %s', (key) => {
  test.each(forms)('written as %s are stored as identifiers', async (_, value) => {
    const json = {
      ProjectId: world.projectId,
      SessionTemplateId: world.templateId,
      Metadata: { [key]: value, speed: 3 },
    };
    const made = await world.call('POST', '/session', json);
    expect(made.status).toBe(201);
    expect(await stored(made.body.id)).not.toMatch(/canary|example\.org|@/);
    expect(await stored(made.body.id)).toContain('anon:');
    const path = `/api/v2/sessions/${made.body.id}`;
    await world.call('PATCH', path, { metadata: {} });
    const changed = await world.call('PATCH', path, { metadata: { [key]: value, speed: 4 } });
    expect([changed.status, changed.body.metadata.speed]).toEqual([200, 4]);
    expect(await stored(made.body.id)).not.toMatch(/canary|example\.org|@/);
  });
});

test('other values do not change, also beside people, and fields with technical names stay fields', async () => {
  const metadata = JSON.parse(
    `{"openedBy":"the tower","participants":[{"id":"anon:x","seat":1},7,null,{"__proto__":{"seat":2}}],"note":"a@b.org"}`,
  );
  const json = { ProjectId: world.projectId, SessionTemplateId: world.templateId, Metadata: metadata };
  const { body } = await world.call('POST', '/session', json);
  const [row] = await world.query<{ metadata: object }>('select metadata from session where id = $1', [
    body.id,
  ]);
  expect(row?.metadata).toEqual(metadata);
});

test('an object with an address becomes the person whom the caller sees', async () => {
  const { Instructor } = world.people;
  const json = {
    ProjectId: world.projectId,
    SessionTemplateId: world.templateId,
    Metadata: {
      openedBy: Instructor.email.toUpperCase(),
      participants: [{ email: Instructor.email, seat: 1 }],
    },
  };
  const { body } = await world.call('POST', '/session', json, world.people.Administrator.token);
  expect(body.metadata).toEqual({
    openedBy: Instructor.email,
    participants: [{ id: Instructor.userId, email: Instructor.email, seat: 1 }],
  });
});

test('each stored identifier is joined back, of a person written as a text or an object', async () => {
  const { Instructor, Administrator } = world.people;
  const person = { id: Instructor.userId, email: Instructor.email };
  const created = async (Metadata: object) => {
    const json = { ProjectId: world.projectId, SessionTemplateId: world.templateId, Metadata };
    return (await world.call('POST', '/session', json, Administrator.token)).body;
  };
  const { metadata, id } = await created({
    openedBy: { email: Instructor.email },
    closedBy: Instructor.email,
    participants: Instructor.email,
  });
  const shown = {
    openedBy: person,
    closedBy: Instructor.email,
    participants: Instructor.email,
  };
  expect(metadata).toEqual(shown);
  const query = { filter: { path: 'id', op: 'eq', value: id } };
  const found = await world.call('POST', '/api/sessions/query', query, Administrator.token);
  expect(found.status).toBe(200);
  expect(JSON.parse(found.body.template.sessions[0].metadataJson)).toMatchObject(shown);
  const alone = await created({ participants: { email: Instructor.email, seat: 1 } });
  expect(alone.metadata.participants).toEqual({ ...person, seat: 1 });
});
