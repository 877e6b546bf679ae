import { describe, expect, test } from 'vitest';
import {
  isConflict,
  isDatabaseAway,
  isDatabaseUnavailable,
  isReadOnly,
  isRefusal,
  sqlStates,
} from '../../../domain/network/database-fault.ts';

describe('a failed statement', () => {
  const away = [
    ...['08000', '08006', '57P01', '57P02', '57P03', '57P05', '25P03'],
    ...[
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'ETIMEDOUT',
      'ENOTFOUND',
      'EAI_AGAIN',
      'EHOSTUNREACH',
      'ENETUNREACH',
    ],
    ...['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS'],
  ];
  const conflicts = ['40001', '40P01', '55P03'];
  const readOnly = ['25006'];
  const busy = ['57014', '53100', '53200', '53300', '58030'];
  const refused = ['22023', '23503', '23505', '23P01', '25P02', '42P01', '42710', '57P04', 'XX000', 'ENOENT'];

  test.each([
    ['means that the database is away', isDatabaseAway, away],
    ['is run again after a conflict', isConflict, conflicts],
    ['met a server that takes no writes', isReadOnly, readOnly],
    ['may succeed soon', isDatabaseUnavailable, [...away, ...conflicts, ...readOnly, ...busy]],
  ])('%s by its code, and by no other', (_name, holds, codes) => {
    const all = [...away, ...conflicts, ...readOnly, ...busy, ...refused];
    expect(all.filter((code) => holds({ code })).sort()).toEqual([...codes].sort());
    for (const error of [undefined, null, 'ECONNRESET', {}, { code: 40001 }])
      expect(holds(error)).toBe(false);
  });

  test('without a code means that the database is away by the messages of the driver', () => {
    const messages = [
      'Connection terminated unexpectedly',
      'timeout exceeded when trying to connect',
      'Query read timeout',
      'Cannot use a pool after calling end on the pool',
    ];
    for (const message of messages)
      expect([message, isDatabaseAway(new Error(message))]).toEqual([message, true]);
    for (const error of [new Error('The last Connection terminated'), { message: 5 }])
      expect(isDatabaseAway(error)).toBe(false);
  });

  test('violated the named constraint, or any where none is named', () => {
    const error = { code: sqlStates.uniqueViolation, constraint: 'project_title' };
    expect(isRefusal(error, sqlStates.uniqueViolation)).toBe(true);
    expect(isRefusal(error, sqlStates.uniqueViolation, 'project_title')).toBe(true);
    expect(isRefusal(error, sqlStates.uniqueViolation, 'project_id')).toBe(false);
    expect(isRefusal(error, sqlStates.foreignKeyViolation, 'project_title')).toBe(false);
  });
});
