import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { formatToken } from '../../domain/access/token-format.ts';
import { createLog } from '../../telemetry/log.ts';
import { startLoop } from '../../worker/loop.ts';
import { runtimeLog } from '../../worker/runtime-log.ts';

const token = formatToken('offline', Buffer.alloc(32, 9));

/** A log, and what was written to it. */
function keptLog() {
  const lines: string[] = [];
  const log = createLog({ process: 'test' }, 'trace', { write: (line: string) => void lines.push(line) });
  return { log, text: () => lines.join('') };
}

/** The lines that `write` makes, as text. */
function linesOf(write: (log: ReturnType<typeof createLog>) => void): string {
  const { log, text } = keptLog();
  write(log);
  return text();
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

describe('a refusal of PostgreSQL, which quotes the row', () => {
  const refusal = () =>
    Object.assign(new Error('new row violates check constraint "people_check"'), {
      code: '23514',
      table: 'people',
      detail: 'Failing row contains (secret-value).',
      where: "unnamed portal with parameters: $1 = 'secret-value'",
    });
  const shown = {
    type: 'Error',
    message: 'new row violates check constraint "people_check"',
    stack: expect.stringContaining('log.test.ts'),
    code: '23514',
    table: 'people',
  };

  test('is without the row in the log of a loop of the worker', async () => {
    const { log, text } = keptLog();
    const loop = startLoop('healer', 60_000, log, () => Promise.reject(refusal()));
    await loop.stop();
    expect(JSON.parse(text())).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      process: 'test',
      loop: 'healer',
      err: shown,
      msg: 'a round failed',
    });
  });

  test('is without the row in what Temporal logs of an activity, and called err there too', () => {
    const line = linesOf((log) =>
      runtimeLog(log).warn('Activity failed', { error: refusal(), durationMs: 3 }),
    );
    expect(JSON.parse(line)).toMatchObject({ err: shown, durationMs: 3, msg: 'Activity failed' });
    expect(JSON.parse(line)).not.toHaveProperty('error');
    expect(line).not.toContain('secret-value');
  });

  test('is without the row under any other name', () => {
    const line = linesOf((log) => log.warn({ failure: refusal() }, 'x'));
    expect(JSON.parse(line).failure).toEqual(shown);
  });
});

test('a worker that has activities alone starts without a warning', () => {
  const notice = 'No workflows registered, not polling for workflow tasks';
  expect(linesOf((log) => runtimeLog(log).warn(notice, { taskQueue: 'sdp-builtin' }))).toBe('');
});

test('a process goes on while its log has no room', () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('../../telemetry/log.ts', import.meta.url).href)};
    const log = createLog({ process: 'test' });
    for (let line = 0; line < 20_000; line += 1) log.info({ line }, 'There is no room for this.');
    console.error('It goes on.');`;
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
    timeout: 60_000,
  });
  closeSync(full);
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'It goes on.\n' });
});
