/** What the command line asks a person for, and shows them, at a terminal. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { captures } from './capture-agent.ts';
import { commandLine } from './support.ts';

/** Runs a program at a terminal of its own. */
const terminal = '/usr/bin/script';
const { folder, runSdp } = commandLine();
const { api, people, chainOf } = await runnerStage();

/** Types each answer as soon as the terminal shows its question. */
function typed(
  program: 'sdp' | 'demo',
  args: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
  more: Readonly<Record<string, string>> = {},
) {
  const path = fileURLToPath(new URL(`../../cli/${program}.ts`, import.meta.url));
  const command = [process.execPath, path, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn(terminal, ['-qec', command, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      XDG_CONFIG_HOME: folder,
      DATA_DIR: folder,
      SDP_URL: api.url,
      TERM: 'xterm',
      ...more,
    },
  });
  const left = [...answers];
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += chunk;
    if (left[0] === undefined || !shown.includes(left[0][0])) return;
    child.stdin.write(`${left.shift()![1]}\r`);
  });
  return new Promise<{ code: number | null; shown: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, shown }));
  });
}

test.runIf(existsSync(terminal))(
  'a person signs in at a terminal, which never shows the password, and deletes only after a yes',
  async () => {
    const { username } = people.Instructor;
    const password = 'a sentence of some length';
    const created = ['users', 'password', username, '--password-stdin'];
    const asAdmin = { SDP_URL: api.url, SDP_TOKEN: people.adminToken };
    expect((await runSdp(created, asAdmin, password)).code).toBe(0);
    const signIn = await typed(
      'sdp',
      ['login'],
      [
        ['Username: ', username],
        [`Password of ${username}: `, password],
      ],
    );
    expect(signIn).toEqual({ code: 0, shown: expect.stringContaining(`as ${username} (Instructor)`) });
    expect(signIn.shown).not.toContain(password);
    const demo = await typed(
      'demo',
      ['--username', username],
      [[`Password of ${username}: `, 'not that one']],
    );
    expect(demo).toEqual({ code: 1, shown: expect.stringContaining('Invalid') });
    expect(demo.shown).not.toContain('not that one');

    const { sessionId } = await chainOf(1);
    const refused = await typed('sdp', ['sessions', 'delete', sessionId], [['[y/N] ', 'n']]);
    expect(refused).toEqual({ code: 1, shown: expect.stringContaining('Cancelled.') });
    const shown = await runSdp(['sessions', 'show', sessionId], asAdmin);
    expect(shown.code).toBe(0);
  },
);

test.runIf(existsSync(terminal))(
  'the agent shows the file that it sends, and none that it has sent',
  async () => {
    const { sessionId } = await chainOf(1);
    const path = captures(join(folder, 'captures'), { 'a.csv': 'a', 'b.csv': 'b', 'c.csv': 'c' });
    const args = ['watch-folder', path, '--session', sessionId, '--settle', '1', '--once'];
    const { code, shown } = await typed('sdp', args, [], { SDP_TOKEN: people.adminToken });
    expect([code, shown]).toEqual([0, expect.stringMatching(/a\.csv: output [\s\S]+c\.csv: output /)]);
    const drawnAtOnce = [...shown.matchAll(/\u001b\[(\d+)A/g)].map(([, lines]) => Number(lines));
    expect(Math.max(...drawnAtOnce)).toBe(1);
  },
);
