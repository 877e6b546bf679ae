/** Making, changing and removing ingests. Run by ingests.test.ts in its world. */
import { describe, expect, test } from 'vitest';
import { tokenFamily } from '../../../domain/access/token-format.ts';
import { ask } from '../../support/api.ts';
import { expectNowhereStored } from '../../support/stored-text.ts';
import { type IngestWorld, ingests, refused } from './ingest-world.ts';

export function administrationTests(world: IngestWorld): void {
  const { api, admin, database, fields, newIngest, people, projectId, send, templateId } = world;

  describe('administration', () => {
    test('creates an ingest, shows its secret once, updates and deletes it', async () => {
      const made = await newIngest({ urlPath: 'track-1/laps_2', ingestDataType: 'Csv' });
      expect(made).toEqual({
        id: expect.any(Number),
        urlPath: 'track-1/laps_2',
        url: '/ingest/track-1/laps_2',
        projectId,
        sessionTemplateId: templateId,
        inputNode: 'laps',
        dataSource: 'platform',
        creationBehaviour: 'NewSession',
        ingestDataType: 'Csv',
        allowAnonymous: false,
        secret: expect.stringMatching(/^his_/),
        secretHint: made.secret.slice(-4),
        createdBy: people.Developer.userId,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      });
      expect(tokenFamily(made.secret)).toBe('ingest');
      const { secret: _, ...shown } = made;
      expect((await admin('GET', `${ingests}/${made.id}`)).body).toEqual(shown);
      expect((await admin('GET', ingests)).body).toContainEqual(shown);
      const changed = await admin('PUT', `${ingests}/${made.id}`, { creationBehaviour: 'LatestSession' });
      expect(changed).toMatchObject({
        status: 200,
        body: { ...shown, creationBehaviour: 'LatestSession', updatedAt: expect.any(String) },
      });
      expect((await send('track-1/laps_2', { secret: made.secret })).status).toBe(201);
      expect((await admin('DELETE', `${ingests}/${made.id}`)).status).toBe(204);
      expect((await admin('DELETE', `${ingests}/${made.id}`)).status).toBe(404);
      expect((await send('track-1/laps_2', { secret: made.secret })).status).toBe(404);
    });

    test('a change without a known field leaves it as it is', async () => {
      const { secret: _, ...shown } = await newIngest();
      for (const json of [{}, { unknown: 1 }, { urlPath: null }]) {
        const { status, body } = await admin('PUT', `${ingests}/${shown.id}`, json);
        expect([status, body]).toEqual([200, shown]);
      }
    });

    test('a new secret replaces the old one', async () => {
      const made = await newIngest();
      const rotated = await admin('POST', `${ingests}/${made.id}/rotate-secret`);
      expect(rotated.status).toBe(200);
      expect(rotated.body.secret).not.toBe(made.secret);
      expect((await send(made.urlPath, { secret: made.secret })).status).toBe(401);
      expect((await send(made.urlPath, { secret: rotated.body.secret })).status).toBe(201);
    });

    test('no secret is stored in clear', async () => {
      const { secret } = await newIngest();
      await expectNowhereStored(database, secret.slice(4, 30));
    });

    test('refuses what it cannot bind to', async () => {
      const cases: [object, string?][] = [
        [{ urlPath: undefined }],
        [{ urlPath: 'Upper' }],
        [{ urlPath: '/slash' }],
        [{ urlPath: 'a//b' }],
        [{ urlPath: '1/2/3/4/5/6/7/8/9' }],
        [{ urlPath: 'ä' }],
        [{ projectId: 999_999 }, 'projectId does not name a project.'],
        [{ projectId: '1' }],
        [{ sessionTemplateId: 999_999 }, 'sessionTemplateId does not name a session template.'],
        [{ inputNode: 'table' }, 'inputNode does not name an Input node of the session template.'],
        [{ inputNode: undefined }, 'inputNode must hold 1 to 255 characters and no control characters.'],
        [{ inputNode: '' }, 'inputNode must hold 1 to 255 characters and no control characters.'],
        [{ dataSource: 7 }, 'dataSource must hold 1 to 255 characters and no control characters.'],
        [{ dataSource: 'nowhere' }, 'dataSource does not name a registered data source.'],
        [{ creationBehaviour: 'Sometimes' }],
        [{ ingestDataType: 'csv' }],
        [{ allowAnonymous: 'yes' }],
      ];
      for (const [change, message] of cases) {
        const answer = await admin('POST', ingests, fields(change));
        expect([change, answer.status]).toEqual([change, 400]);
        if (message !== undefined) expect(answer.body).toEqual(refused(message));
      }
      expect((await admin('POST', ingests, fields({ urlPath: '1/2/3/4/5/6/7/8' }))).status).toBe(201);
    });

    test('a path belongs to one ingest', async () => {
      const one = await newIngest();
      const two = await newIngest();
      const message = refused('An ingest with the same URL path already exists.');
      expect(await admin('POST', ingests, fields({ urlPath: one.urlPath }))).toMatchObject({
        status: 409,
        body: message,
      });
      expect(await admin('PUT', `${ingests}/${two.id}`, { urlPath: one.urlPath })).toMatchObject({
        status: 409,
        body: message,
      });
    });

    test('is for Administrators and Developers, and for no offline token', async () => {
      const { id } = await newIngest();
      for (const [method, path] of [
        ['GET', ingests],
        ['POST', ingests],
        ['GET', `${ingests}/${id}`],
        ['PUT', `${ingests}/${id}`],
        ['DELETE', `${ingests}/${id}`],
        ['POST', `${ingests}/${id}/rotate-secret`],
      ] as const) {
        expect((await ask(api.url, method, path)).status).toBe(401);
        for (const token of [people.Instructor.token, people.Trainee.token, people.offlineToken])
          expect((await ask(api.url, method, path, { token })).status).toBe(403);
      }
      for (const missing of ['999999', 'abc'])
        for (const [method, path, json] of [
          ['GET', `${ingests}/${missing}`, undefined],
          ['PUT', `${ingests}/${missing}`, {}],
          ['DELETE', `${ingests}/${missing}`, undefined],
          ['POST', `${ingests}/${missing}/rotate-secret`, undefined],
        ] as const)
          expect(await admin(method, path, json)).toMatchObject({
            status: 404,
            body: refused('Ingest not found.'),
          });
    });
  });
}
