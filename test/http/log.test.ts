import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { formatToken } from '../../domain/access/token-format.ts';
import { createLog } from '../../http/log.ts';

const token = formatToken('offline', Buffer.alloc(32, 9));

/** The lines that `write` makes, as text. */
function linesOf(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('test', 'trace', { write: (line: string) => void lines.push(line) }));
  return lines.join('');
}

describe('a log line', () => {
  test('of an error names it and where it happened, without the row, parameters or answer that hang on it', () => {
    const refused = Object.assign(
      new Error('duplicate key value\n - detail: (ann@example.org, $argon2id$x)'),
      {
        code: '23505',
        table: 'users',
        constraint: 'users_email',
        detail: 'Key (email_key)=(ann@example.org) already exists.',
        parameters: ['ann@example.org', '$argon2id$x', 'a password'],
      },
    );
    const lines = linesOf((log) =>
      log.error({ err: new Error('could not be written', { cause: refused }) }, 'request failed'),
    );
    const { err } = JSON.parse(lines);
    expect(err).toMatchObject({
      type: 'Error',
      message: 'could not be written',
      stack: expect.stringContaining('log.test.ts'),
      cause: {
        message: 'duplicate key value',
        code: '23505',
        table: 'users',
        constraint: 'users_email',
        stack: expect.stringContaining('log.test.ts'),
      },
    });
    for (const part of ['ann', 'example.org', 'argon2id', 'a password', 'detail'])
      expect(lines).not.toContain(part);
  });

  test('of an undeclared response has field and rule, and no value', () => {
    const { error } = z
      .object({ user: z.object({ id: z.int() }) })
      .safeParse({ user: { id: 'secret-value' } });
    const lines = linesOf((log) => log.error({ err: error }, 'x'));
    expect(JSON.parse(lines).err.message).toMatch(/^user\.id: /);
    expect(lines).not.toContain('secret-value');
  });

  test.each<[string, (log: ReturnType<typeof createLog>) => void]>([
    ['an error text', (log) => log.error({ err: new Error(`no ann@example.org ${token}`) }, 'x')],
    ['the message', (log) => log.info(`hello ann@example.org ${token}`)],
    ['a field', (log) => log.info({ error: `ann@example.org ${token}` }, 'x')],
    [
      'what every line of a request carries',
      (log) => log.child({ requestId: token }).info('ann%40example.org'),
    ],
    [
      'a named field of an error',
      (log) => log.info({ cause: Object.assign(new Error('x'), { token: 'ann' }) }),
    ],
    ['a named field', (log) => log.info({ token, email: 'ann@example.org', deep: { password: 'ann' } }, 'x')],
  ])('contains neither token nor address in %s', (_, write) => {
    const lines = linesOf(write);
    expect(() => JSON.parse(lines)).not.toThrow();
    expect(lines).not.toContain(token.slice(4, 30));
    expect(lines).not.toMatch(/ann/);
  });
});
