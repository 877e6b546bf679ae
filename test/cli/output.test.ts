/** Tables for people, without a platform. */
import { expect, test } from 'vitest';
import { plain, table } from '../../cli/output.ts';

const columns = { NAME: ({ name }: { name: string }) => name, STATE: () => 'done' };

test('a long cell moves its own row alone', () => {
  const long = 'x'.repeat(255);
  expect(table([{ name: 'A lap' }, { name: long }], columns).split('\n')).toEqual([
    'NAME   STATE',
    'A lap  done',
    `${long}  done`,
  ]);
});

test('columns are as wide as their cells', () => {
  const name = 'x'.repeat(80);
  expect(table([{ name }, { name: '' }], columns).split('\n')).toEqual([
    `NAME${' '.repeat(76)}  STATE`,
    `${name}  done`,
    `-${' '.repeat(79)}  done`,
  ]);
});

test('text is one line, and nothing in it moves or turns what follows', () => {
  expect(plain('a\r\n\u001b[31mb\u2028c\u202egnp\u2066d')).toBe('a [31mb c gnp d');
  expect(plain('Übung 🚗 मेरा')).toBe('Übung 🚗 मेरा');
});
