/** An unexpected exception in each of the product's processes: logged as fatal, and the process ends in order. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type TestProcess, testProcesses } from '../support/processes.ts';
import { runnerStage } from '../support/runner.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Throws in the process at SIGUSR2, and at SIGHUP rejects a promise, like code without an await. The error has what
 * PostgreSQL adds to its refusals: a value of the row, in two parts, because the stack has this text.
 */
const provoked = `data:text/javascript,${encodeURIComponent(
  `const value = 'secret-' + 'value';
   const row = { detail: 'Failing row contains (' + value + ').', where: 'unnamed portal parameter $1 = ' + value };
   const error = (text) => Object.assign(new TypeError(text), row);
   process.on('SIGUSR2', () => { throw error('provoked exception'); });
   process.on('SIGHUP', () => { Promise.reject(error('provoked rejection')); });`,
)}`;
const variables = { NODE_OPTIONS: `--import=${provoked}` };

describe('every program of the product', () => {
  const folders = ['api', 'auth', 'worker', 'activities', 'local', 'store', 'telemetry'];
  /** Short programs without work of others: Node's own end, with the error on standard error, is right. */
  const oneThing = [
    'api/docs/write-runner-api.ts',
    'auth/migrate.ts',
    'local/local-token.ts',
    'local/run-tests.ts',
    'local/sbom.ts',
    'store/make-bucket.ts',
    'store/migrate.ts',
    'store/roles.ts',
    'worker/write-bundle.ts',
  ];
  const sources = new Map(
    folders
      .flatMap((folder) => readdirSync(join(checkout, folder), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relative(checkout, file), readFileSync(file, 'utf8')] as const),
  );
  const importsOf = ([file, text]: readonly [string, string]) =>
    [...text.matchAll(/^(?:import|export)\s(?!type\b)[^'"]*?from '(\.[^']+)'|import\(\s*'(\.[^']+)'/gm)].map(
      (match) => relative(checkout, resolve(checkout, file, '..', match[1] ?? match[2] ?? '')),
    );

  test('stops gracefully after an unexpected exception, or does one thing only', () => {
    const imported = new Set([...sources].flatMap(importsOf));
    const programs = [...sources]
      .filter(([file, text]) => text.includes('import.meta.main') || !imported.has(file))
      .filter(([, text]) => !isOnlyTypes(text));
    const names = programs.map(([file]) => file);
    expect(names).toEqual(
      expect.arrayContaining([
        'api/main.ts',
        'auth/main.ts',
        'worker/main.ts',
        'worker/runner-host/main.ts',
        'api/series/child.ts',
        'activities/builtin/tabular/convert/convert-child.ts',
        'local/start.ts',
      ]),
    );
    const without = programs.filter(([, text]) => !/^ *endOnUnexpected\(/m.test(text)).map(([file]) => file);
    expect(without.toSorted()).toEqual(oneThing);
  });

  test('has a listener for the errors of whatever it starts, connects to or listens on', () => {
    const makes = /new pg\.(Client|Pool)\(|(?<!\.)\b(fork|spawn)\(|new Worker\(new URL|= createServer\(/;
    const deaf = [...sources]
      .filter(
        ([, text]) => makes.test(text) && !/\.on(ce)?\('error'|emit\('error'|guardConnections\(/.test(text),
      )
      .map(([file]) => file);
    expect(deaf).toEqual([]);
  });
});

const isOnlyTypes = (text: string) =>
  !/^(?!(import|export) type|(export )?interface|\/|\s|$|}|\))/m.test(text);

describe('a process in which it happens', async () => {
  const stage = await runnerStage();
  const { platform, database, people } = stage;
  const processes = testProcesses(platform.environment);

  async function expectFatal(running: TestProcess, signal: 'SIGUSR2' | 'SIGHUP' = 'SIGUSR2'): Promise<void> {
    running.kill(signal);
    expect(await running.ended).toBe(1);
    const fatal = running.log().match(/^.*"level":"fatal".*$/m)?.[0] ?? '{}';
    expect(JSON.parse(fatal)).toMatchObject({
      msg: 'an unexpected exception; the process ends',
      err: { type: 'TypeError', message: expect.stringContaining('provoked'), stack: expect.any(String) },
    });
    expect(running.log()).not.toContain('secret-value');
  }

  test('the API: the upload in progress is completed and acknowledged, and no new call is accepted', async () => {
    await ensurePlatformDataSource(database, stage.api.composed.services.objects.platformAccess);
    const graph = await stage.chainOf(1);
    const api = await processes.startApi({ variables });
    const upload = request({
      port: api.port,
      method: 'POST',
      path: `/api/v2/node-instance/${graph.nodes.input}/outputs/data`,
      headers: { authorization: `Bearer ${people.Developer.token}`, expect: '100-continue' },
    });
    upload.flushHeaders();
    await once(upload, 'continue');
    upload.write('first half, ');
    const over = expectFatal(api);
    await eventually('the port is closed', () =>
      fetch(`${api.url}/health_check`).then(
        () => false,
        () => true,
      ),
    );
    upload.end('second half');
    const [answer] = await once(upload, 'response');
    answer.resume();
    expect(answer.statusCode).toBe(201);
    await over;
    const stored = await database.query('select size_bytes from node_output where node_instance_id = $1', [
      graph.nodes.input,
    ]);
    expect(stored).toEqual([{ sizeBytes: 23 }]);
  });

  test('the authentication service, the workers and the host of deployed runners', async () => {
    const hostVariables = { SDK_RUNNERS_DIR: checkout, LOG_LEVEL: 'info' };
    const running = await Promise.all([
      processes.startAuth({ variables }),
      processes.startWorker('workflows', { variables }),
      processes.startWorker('builtin', { variables }),
    ]);
    const host = processes.startScript('worker/runner-host/main.ts', { ...variables, ...hostVariables });
    await eventually('the host is at work', () => host.log().includes('is running'));
    await Promise.all(
      [...running, host].map((one, at) => expectFatal(one, at % 2 === 0 ? 'SIGHUP' : 'SIGUSR2')),
    );
    await tokenOf(stage.api.url, platform.administrator.username, platform.administrator.password);
  });

  test.for(['activities/builtin/tabular/convert/convert-child.ts', 'api/series/child.ts'])(
    '%s',
    async (path) => {
      const child = fork(join(checkout, path), ['{"databaseBytes":1000000}'], {
        env: {},
        execArgv: ['--import', provoked, '--disable-warning=ExperimentalWarning'],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      });
      let text = '';
      child.stderr!.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      const ended = once(child, 'exit');
      // The handler of the signal is there from the first moment; the program's own a little later.
      const asking = setInterval(() => child.kill('SIGUSR2'), 700);
      const [code, signal] = await ended;
      clearInterval(asking);
      expect([code, signal]).toEqual([1, null]);
      expect(text).toContain('"level":"fatal"');
      expect(text).toContain('provoked exception');
      expect(text).not.toContain('secret-value');
    },
  );
});
