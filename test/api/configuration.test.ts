import { describe, expect, test } from 'vitest';
import { configurationRoutes } from '../../api/configuration/routes.ts';
import { apiStage, ask } from '../support/api.ts';

const { api, call, people } = await apiStage({ routes: configurationRoutes });

const put = (name: string, json: unknown, token?: string) =>
  call('PUT', `/config/${encodeURIComponent(name)}`, json, token);
const refusal = (status: number, message: string) => ({ status, body: { status: 'error', message } });
const read = async (query = '', token?: string) =>
  (await call('GET', `/config/all${query}`, undefined, token)).body;

describe('POST /config', () => {
  test('creates an entry of each type, under every form of the path', async () => {
    const made = await call('POST', '/config', {
      name: 'Ui:Title',
      valueType: 0,
      value: 'Flights',
      description: 'd',
    });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      id: expect.any(Number),
      name: 'Ui:Title',
      valueType: 0,
      value: 'Flights',
      description: 'd',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: made.body.createdAt,
    });
    const values: [number, string][] = [
      [1, '12'],
      [2, '1.5'],
      [3, 'true'],
      [4, '{"a":[]}'],
    ];
    for (const [valueType, value] of values) {
      for (const prefix of ['/api/v2', '/api/v2.0']) {
        const name = `Types:${prefix.slice(5)}:${valueType}`;
        expect(await call('POST', `${prefix}/config`, { name, valueType, value })).toMatchObject({
          status: 201,
          body: { name, valueType, value, description: '' },
        });
      }
    }
  });

  test.each([
    ['nothing', undefined],
    ['a list', []],
    ['no name', { value: 'a' }],
    ['an empty name', { name: '', value: 'a' }],
    ['an empty segment', { name: 'a::b', value: 'a' }],
    ['a blank', { name: 'a b', value: 'a' }],
    ['a name of 201 characters', { name: 'a'.repeat(201), value: 'a' }],
    ['a name that is a number', { name: 1, value: 'a' }],
  ])('refuses %s for its name', async (_, json) => {
    expect(await call('POST', '/config', json)).toMatchObject(refusal(400, 'Invalid configuration name'));
  });

  test.each([
    ['no value', { valueType: 0 }, 'value must be text.'],
    ['a value that is no text', { valueType: 1, value: 1 }, 'value must be text.'],
    ['an integer that is none', { valueType: 1, value: '1.5' }, 'Invalid configuration value.'],
    ['JSON that is none', { valueType: 4, value: '{' }, 'Invalid configuration value.'],
    ['NUL', { valueType: 0, value: 'a\u0000' }, undefined],
    ['more than 64 KB', { valueType: 0, value: 'x'.repeat(65_537) }, 'Invalid configuration value.'],
    [
      'a description of more than 4,000 characters',
      { value: '', description: 'x'.repeat(4_001) },
      'description must hold at most 4000 characters.',
    ],
    [
      'an unknown type',
      { valueType: 5, value: 'a' },
      'valueType must be 0 (string), 1 (integer), 2 (number), 3 (bool) or 4 (JSON).',
    ],
  ])('refuses %s', async (_, json, message) => {
    const answer = await call('POST', '/config', { name: 'Refused', ...json });
    expect(answer).toMatchObject({ status: 400, body: { status: 'error', ...(message && { message }) } });
    expect(await read('?prefix=Refused')).toEqual({});
  });

  test('refuses an existing name, and a name with an existing place in the list', async () => {
    const taken = refusal(409, 'Configuration with the same name already exists.');
    expect((await call('POST', '/config', { name: 'Taken', value: '' })).status).toBe(201);
    expect(await call('POST', '/config', { name: 'Taken', value: '' })).toMatchObject(taken);
    expect(await call('POST', '/config', { name: 'General:Taken', value: '' })).toMatchObject(taken);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call('POST', '/config', { name: 'Raced', value: '' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });
});

describe('PUT /config/{name}', () => {
  test('changes the sent fields, renames, and keeps the rest', async () => {
    const made = await call('POST', '/config', {
      name: 'Old:Name',
      valueType: 1,
      value: '1',
      description: 'd',
    });
    const changed = await put('Old:Name', { value: '2' });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...made.body, value: '2', updatedAt: expect.any(String) },
    });
    const renamed = await put('Old:Name', { name: 'New:Name', valueType: 3, value: 'true', description: '' });
    expect(renamed).toMatchObject({
      status: 200,
      body: { id: made.body.id, name: 'New:Name', valueType: 3, value: 'true', description: '' },
    });
    expect(await put('Old:Name', { value: '2' })).toMatchObject(refusal(404, 'Configuration not found'));
    expect((await put('New:Name', { name: 'New:Name' })).status).toBe(200);
    const stored = (await put('New:Name', { value: 'true' })).body;
    expect((await put('New:Name', {})).body).toEqual(stored);
    expect((await put('New:Name', { unknown: 1, value: null })).body).toEqual(stored);
  });

  test('refuses missing, existing or wrong values, and changes nothing', async () => {
    await call('POST', '/config', { name: 'First', valueType: 1, value: '1' });
    await call('POST', '/config', { name: 'Second', value: 'two' });
    expect(await put('Nowhere', { value: 'a' })).toMatchObject(refusal(404, 'Configuration not found'));
    for (const name of ['a b', 'a::b']) {
      expect(await put(name, { value: 'a' })).toMatchObject(refusal(400, 'Invalid configuration name.'));
      expect(await put('First', { name })).toMatchObject(refusal(400, 'Invalid configuration name.'));
    }
    expect(await put('First', [])).toMatchObject(refusal(400, 'Invalid configuration name.'));
    expect(await put('First', { value: 'x' })).toMatchObject(refusal(400, 'Invalid configuration value.'));
    expect(await put('Second', { valueType: 2 })).toMatchObject(refusal(400, 'Invalid configuration value.'));
    for (const name of ['Second', 'General:Second']) {
      expect(await put('First', { name })).toMatchObject(
        refusal(409, 'Configuration with the same name already exists.'),
      );
    }
    expect((await read('?prefix=First')).General.First['']).toMatchObject({ valueType: 1, value: '1' });
  });
});

describe('GET /config/all', () => {
  test('groups by segments and filters by prefix', async () => {
    for (const name of [
      'PublicApi:Ui:Title',
      'PublicApi:Ui',
      'PublicApis:Secret',
      'Private:Key:a:b',
      '__proto__:x',
    ])
      expect((await call('POST', '/config', { name, value: name })).status).toBe(201);
    const all = await read();
    expect(all.PublicApi.Ui['']).toMatchObject({ name: 'PublicApi:Ui' });
    expect(all.PublicApi.Ui.Title).toMatchObject({ name: 'PublicApi:Ui:Title' });
    expect(all.Private.Key['a:b']).toMatchObject({ value: 'Private:Key:a:b' });
    expect(Object.keys(all)).toContain('__proto__');
    expect(Object.keys(await read('?prefix=Private'))).toEqual(['Private']);
    expect(await read('?prefix=Nothing')).toEqual({});
    expect(await read('?prefix=%25')).toEqual({});
  });

  test('shows other roles than Administrator and Developer only the public entries', async () => {
    for (const token of [people.Instructor.token, people.Trainee.token]) {
      expect(Object.keys(await read('', token))).toEqual(['PublicApi']);
      expect(await read('?prefix=Private', token)).toEqual({});
      expect(Object.keys((await read('?prefix=PublicApi:Ui:', token)).PublicApi.Ui)).toEqual(['Title']);
    }
    // An offline token sees what the Administrator who made it sees.
    expect(Object.keys(await read('', people.offlineToken))).toContain('Private');
    expect((await ask(api.url, 'GET', '/config/all')).status).toBe(401);
  });
});
