/** Completion of names in expressions, without a browser. */
import { expect, test } from 'vitest';
import { compileExpression } from '../../../domain/reports/report-expression.ts';
import { candidatesOf, complete, completed } from '../../../web/src/reports/completion.ts';

const candidates = candidatesOf(
  {
    sources: [
      { name: 'dimension', fields: ['id', 'sessionName', 'sessionId'] },
      { name: 'user', fields: ['id', 'name', 'email'] },
      { name: 'metadata', fields: null },
      { name: 'annotations', fields: ['label', 'text'] },
      { name: 'channels', fields: null },
    ],
    functions: ['.contains(', '.size(', 'size('],
    channels: [
      { name: 'speed', unit: 'km/h', dashboards: 3 },
      { name: 'engine speed', unit: 'rpm', dashboards: 1 },
    ],
    channelFields: ['min', 'max'],
  },
  [{ path: 'tyre.kind of', sessions: 2, samples: ['soft'] }],
);
const at = (expression: string) => complete(expression, expression.length, candidates);
const texts = (expression: string) => at(expression)?.candidates.map(({ text }) => text) ?? null;

test('names are found by their beginning, and by that of one of their parts', () => {
  expect(texts('dimension.sess')).toEqual(['dimension.sessionName', 'dimension.sessionId']);
  expect(texts('email')).toEqual(['user.email']);
  expect(texts('1 + DIM')).toEqual(['dimension.id', 'dimension.sessionName', 'dimension.sessionId']);
  expect(texts('metadata.ty')).toEqual(['metadata.tyre["kind of"]']);
  expect(texts('channels["engine')).toEqual(['channels["engine speed"].min', 'channels["engine speed"].max']);
  expect(texts('channels.speed.m')).toEqual(['channels.speed.min', 'channels.speed.max']);
  expect(texts('anno')).toEqual(['annotations']);
});

test('functions are offered behind a value, and nothing inside a text or for a whole name', () => {
  expect(texts('user.name.con')).toEqual(['.contains(']);
  expect(texts('annotations.filter(a, true).si')).toEqual(['.size(']);
  for (const nothing of ['', '1 + ', '"user.na', "'a' + 'user.na", 'user.email', '12.5'])
    expect(texts(nothing), nothing).toBeNull();
});

test('nothing is offered, at once, behind many open brackets', () => {
  expect(texts(`${'a["'.repeat(60)}\\`)).toBeNull();
});

test('a candidate replaces what was written, and leaves the rest', () => {
  const expression = 'size(user.na) > 3';
  const completion = complete(expression, 'size(user.na'.length, candidates)!;
  expect(completed(expression, completion, completion.candidates[0]!)).toEqual({
    expression: 'size(user.name) > 3',
    cursor: 'size(user.name'.length,
  });
});

test('every name that is offered is one that the platform knows', () => {
  for (const { text, detail } of candidates) {
    if (detail === 'function') continue;
    expect(compileExpression(text, 'dimension', { checksNames: true }), text).toMatchObject({ ok: true });
  }
});
