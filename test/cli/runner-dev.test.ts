/** `sdp runner dev` from an empty folder to a result, with both kits on a real platform. */
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { pythonProgram } from '../support/python-program.ts';
import { runnerStage } from '../support/runner.ts';
import { ship } from '../support/templates.ts';
import { commandLine } from './support.ts';

const { folder, startSdp } = commandLine();
/** In a process of its own: the runner writes to its streams. */
const runSdp = (...command: Parameters<typeof startSdp>) => startSdp(...command).ended;
const stage = await runnerStage();
const { api, people, database } = stage;
await ship(database);
await ensurePlatformDataSource(database, api.composed.services.objects.platformAccess);
const environment = {
  SDP_URL: api.url,
  SDP_TOKEN: people.Developer.token,
  SDP_RUNNER_GRACE_SECONDS: '20',
};
const sdp = (...args: string[]) => runSdp(args, environment);
const call = async (path: string) =>
  (await ask(api.url, 'GET', path, { token: people.Developer.token })).body;
const tokensFile = join(folder, 'sdp', 'runner-tokens.json');

async function make(name: string, language: string): Promise<string> {
  const made = join(folder, name);
  expect((await sdp('runner', 'init', made, `--${language}`)).code).toBe(0);
  return made;
}

/** Starts it; its process is ended after the test. */
const dev = (made: string, ...args: string[]) => devIn(environment, made, ...args);

function devIn(variables: Record<string, string>, made: string, ...args: string[]) {
  const started = startSdp(['runner', 'dev', made, ...args], variables);
  // In good order: its runner is a process of its own.
  onTestFinished(async () => {
    started.kill('SIGTERM');
    await started.ended;
  });
  const says = (text: string) => eventually(`it says ${text}`, () => started.printed.out.includes(text));
  return { ...started, says };
}

const replaceIn = (file: string, from: string, to: string) =>
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));

const startsIn = (log: string) => log.split('claims tasks').length - 1;

describe.each([
  { language: 'typescript', file: 'runner.ts', from: 'top, rows };', to: 'best: top, rows };' },
  { language: 'python', file: 'runner.py', from: '"top": max', to: '"best": max' },
])('in $language', ({ language, file, from, to }) => {
  test.skipIf(language === 'python' && pythonProgram === undefined)(
    'a made runner has its first result, and another one after a change of its code',
    async () => {
      const made = await make(`first ${language}`, language);
      const started = dev(made, '--session');
      await started.says('claims tasks');
      const [, session = '', node = ''] =
        /upload (\S+) [^\n]+\n.*outputs latest (\d+) --save -/.exec(started.printed.out) ?? [];
      expect(started.printed.out).toContain(`upload ${session} '${join(made, 'sample.csv')}'\n`);
      const result = async (upload: string) => {
        expect((await sdp('upload', session, upload)).code).toBe(0);
        return await eventually('a new output', async () => {
          const { out } = await sdp('outputs', 'latest', node, '--save', '-');
          return out.includes(upload.split('/').at(-1)!) ? JSON.parse(out) : undefined;
        });
      };
      expect(await result(join(made, 'sample.csv'))).toMatchObject({ top: 63.5, rows: 3 });
      // The author's names alone are there, and retired at the end.
      const [{ name, nodeTemplateName }] = (
        await call(`/api/v2/session/${session}/node-instances`)
      ).nodeInstances.filter(({ id }: { id: number }) => String(id) === node);
      expect([name, nodeTemplateName]).toEqual([
        'result',
        expect.stringMatching(new RegExp(`^first-${language}-`)),
      ]);

      replaceIn(join(made, file), from, to);
      await eventually('it has started again', () => startsIn(started.printed.out) === 2);
      expect(started.printed.out).toContain(`Changed: ${file}.`);
      const second = join(made, 'second.csv');
      writeFileSync(second, 'time,speed\n0,7\n');
      expect(await result(second)).toMatchObject({ best: 7, rows: 1 });

      started.kill('SIGINT');
      const { code, out } = await started.ended;
      expect([code, out]).toEqual([0, expect.stringContaining(`Retired: ${nodeTemplateName}.`)]);
      expect(out).toContain('has stopped');
      const features = await call('/api/v2/admin/runner-manifests');
      const mine = features.find((one: { name: string }) => one.name === nodeTemplateName);
      expect(mine.nodeTemplates).toMatchObject([{ name: nodeTemplateName, retired: true }]);
    },
  );
});

test('a started task is done before a changed program takes over', async () => {
  const made = await make('graceful', 'typescript');
  const code = join(made, 'runner.ts');
  replaceIn(
    code,
    'let rows = 0;',
    `let rows = 0;
      task.log.info('begins');
      await new Promise((resolve) => setTimeout(resolve, 3_000));`,
  );
  const started = dev(made, '--session');
  await started.says('claims tasks');
  const [, session = ''] = /upload (\S+) /.exec(started.printed.out) ?? [];
  await sdp('upload', session, join(made, 'sample.csv'));
  await started.says('begins');
  replaceIn(code, '3_000', '0');
  await eventually('it has started again', () => startsIn(started.printed.out) === 2);
  const { out } = started.printed;
  expect(out.indexOf('task ended by complete')).toBeGreaterThan(out.indexOf('Changed: runner.ts.'));
  expect(out.indexOf('task ended by complete')).toBeLessThan(out.indexOf('has stopped'));
  started.kill('SIGINT');
  expect((await started.ended).code).toBe(0);
});

test('a token is made once, in a file of the author alone; a revoked one is replaced', async () => {
  const made = await make('tokens', 'typescript');
  const onceMore = async () => {
    const started = dev(made);
    await started.says('claims tasks');
    started.kill('SIGTERM');
    expect((await started.ended).code).toBe(0);
    const kept = JSON.parse(readFileSync(tokensFile, 'utf8'));
    return kept[Object.keys(kept).find((key) => key.includes(' tokens-'))!].token;
  };
  const tokens = [await onceMore(), await onceMore()];
  expect(tokens[0]).toBe(tokens[1]);
  expect(statSync(tokensFile).mode & 0o777).toBe(0o600);
  const listed = (await call('/api/v2/admin/runner-tokens')).filter(
    ({ label, runnerTypes }: { label: string; runnerTypes: string[] }) =>
      label === 'sdp runner dev' && runnerTypes[0]?.startsWith('tokens-'),
  );
  expect(listed).toHaveLength(1);
  await sdp('tokens', 'runner', 'revoke', listed[0].id);
  expect(await onceMore()).not.toBe(tokens[0]);
});

test('a fault in a changed manifest is said with its path, and the correction is taken up', async () => {
  const made = await make('faulty', 'typescript');
  const started = dev(made);
  await started.says('claims tasks');
  const manifest = join(made, 'manifest.json');
  replaceIn(manifest, '"incremental": true', '"incremental": "yes"');
  await eventually('the fault', () => started.printed.err.includes('$.nodeTemplates[0].incremental'));
  replaceIn(manifest, '"incremental": "yes"', '"incremental": true');
  await eventually('it has started again', () => startsIn(started.printed.out) === 2);
  // A program that cannot start waits for its correction, too.
  const code = join(made, 'runner.ts');
  replaceIn(code, 'defineRunner<', 'undefinedRunner<');
  await started.says('The runner has ended (1). It starts again when a file changes.');
  replaceIn(code, 'undefinedRunner<', 'defineRunner<');
  await eventually('it has started again', () => startsIn(started.printed.out) === 3);
  started.kill('SIGINT');
  expect((await started.ended).code).toBe(0);
});

describe('it ends with one sentence', () => {
  const failed = async (made: string, more: Record<string, string> = {}) => {
    const { code, out, err } = await runSdp(['runner', 'dev', made], { ...environment, ...more });
    expect(code).toBeGreaterThan(0);
    return `${out}${err}`;
  };

  test('for a manifest with faults, with their paths, and nothing is published', async () => {
    const made = await make('wrong', 'typescript');
    replaceIn(join(made, 'manifest.json'), '"Processing"', '"Procesing"');
    const said = await failed(made);
    expect(said).toContain('  $.nodeTemplates[0].type: type must be one of');
    writeFileSync(join(made, 'manifest.json'), '{"manifestVersion": 1,}');
    expect(await failed(made)).toMatch(/^manifest\.json is not valid JSON: line 1, column 23: /);
    const features = await call('/api/v2/admin/runner-manifests');
    expect(features.some(({ name }: { name: string }) => name.startsWith('wrong-'))).toBe(false);
  });

  test('for a refused sign-in, a refused token, a platform that is away and a folder without a runner', async () => {
    const made = await make('refused', 'typescript');
    expect(await failed(made, { SDP_TOKEN: 'hat_wrong' })).toMatch(
      /^A valid bearer token is required\. \(401, request .+\)\nThe token of SDP_TOKEN has expired, .+\.\n$/,
    );
    const wrongToken = await failed(made, { SDP_RUNNER_TOKEN: 'hrt_wrong' });
    expect(wrongToken).toContain(`${api.url} refuses SDP_RUNNER_TOKEN for refused-`);
    expect(await failed(made, { SDP_URL: 'http://127.0.0.1:1' })).toBe(
      'http://127.0.0.1:1 does not answer.\n',
    );
    expect(readdirSync(made)).toContain('runner.ts');
    expect(await failed(folder)).toContain('There is no runner.py or runner.ts in ');
  });
});

test.skipIf(process.platform !== 'linux')(
  'one that is killed leaves no runner, no node template and no token for long',
  async () => {
    const made = await make('killed', 'typescript');
    // The platform is the named one, not that of the variable.
    const started = devIn({ ...environment, SDP_URL: 'http://127.0.0.1:1' }, made, '--url', api.url);
    await started.says('claims tasks');
    const [, name = ''] = /Registered as (\S+) at/.exec(started.printed.out) ?? [];
    // The pids of processes at work in its folder.
    const runners = async () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return readlinkSync(`/proc/${pid}/cwd`) === made;
        } catch {
          return false;
        }
      });
    await eventually('its runner is there', async () => (await runners()).length === 1);
    started.kill('SIGKILL');
    await started.ended;
    await eventually('its runner has ended', async () => (await runners()).length === 0);
    await eventually(
      'its node template is retired',
      async () => {
        const features = await call('/api/v2/admin/runner-manifests');
        const mine = features.find((one: { name: string }) => one.name === name);
        return mine.nodeTemplates.every(({ retired }: { retired: boolean }) => retired);
      },
      60_000,
    );
    const tokens = await call('/api/v2/admin/runner-tokens');
    const { expiresAt } = tokens.find(({ runnerTypes }: { runnerTypes: string[] }) =>
      runnerTypes[0]?.startsWith('killed'),
    );
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThan(7 * 86_400_000 + 60_000);
  },
  180_000,
);
