import { expect, test } from 'vitest';
import { EventParser } from '../../web/src/event-parser.ts';

const text =
  'retry: 1000\n\n: still there\n\nevent: node\ndata: {"id":1}\n\nevent: output\ndata: a\ndata: b\nid: 17-3\n\ndata:x\r\n\r\n';
const events = [
  { kind: 'node', data: '{"id":1}', id: null },
  { kind: 'output', data: 'a\nb', id: '17-3' },
  { kind: 'message', data: 'x', id: null },
];

test('finds the same events wherever the text is cut', () => {
  for (let cut = 0; cut <= text.length; cut += 1) {
    const parser = new EventParser();
    const found = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
    expect(found, `cut at ${cut}`).toEqual(events);
  }
});

test('takes an event that is not complete for none', () => {
  const parser = new EventParser();
  expect(parser.push('event: node\ndata: {"id":1}\nid: 4-4\n')).toEqual([]);
  expect(parser.push('\n')).toEqual([{ kind: 'node', data: '{"id":1}', id: '4-4' }]);
});
