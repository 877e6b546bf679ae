import { expect, test } from 'vitest';
import { idsInPath } from '../../http/log-fields.ts';

const uuid = '0198EE21-7d40-7c1a-9e55-2f6b8c0d3a71';

test('ids of a path are logged, and no other text that a caller wrote there', () => {
  const path = '/api/v2/node-instance/{nodeInstanceId}/outputs/{nodeOutputId}';
  expect(idsInPath(path, { nodeInstanceId: '7', nodeOutputId: uuid })).toEqual({
    nodeInstanceId: '7',
    nodeOutputId: uuid,
  });
  for (const text of ['petra@example.org', '7 and more', `x${uuid}`, `${uuid}0`, ''])
    expect([text, idsInPath(path, { nodeInstanceId: text })]).toEqual([text, {}]);
});

test('an id without a name is that of a session below sessions alone', () => {
  for (const path of ['/api/v2/session/{id}/close', '/api/v2/sessions/{id}'])
    expect(idsInPath(path, { id: uuid })).toEqual({ sessionId: uuid });
  expect(idsInPath('/projects/{id}', { id: '7' })).toEqual({});
  expect(idsInPath('/api/v2/sessions/{id}', { id: 'petra@example.org' })).toEqual({});
});
