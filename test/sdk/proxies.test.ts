/** Runners, command line and agents where the platform is reached only through a proxy, which the environment names. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { captures, mebibyte, outputsOf } from '../cli/capture-agent.ts';
import { commandLine } from '../cli/support.ts';
import { pythonEnvironment } from '../python/environment.ts';
import { eventually } from '../support/eventually.ts';
import { authorityFile, forwardProxy, hiddenHost } from '../support/network/forward-proxy.ts';
import { testProcesses } from '../support/processes.ts';
import { kitStage } from './support/kit-stage.ts';

type Variables = Readonly<Record<string, string>>;

const stage = await kitStage();
const proxy = await forwardProxy(stage.api.url);
const { folder, startSdp } = commandLine();
const { python = 'python3', missing } = pythonEnvironment();
const processes = testProcesses({ PYTHONUNBUFFERED: '1' });
/** The shortest that a node template may have: longer work needs heartbeats. */
const leaseSeconds = 10;

/** Only the proxy knows the host. */
const secure = {
  SDP_URL: `https://${hiddenHost}`,
  HTTPS_PROXY: proxy,
  NODE_EXTRA_CA_CERTS: authorityFile,
  SSL_CERT_FILE: authorityFile,
};
const plain = { SDP_URL: `http://${hiddenHost}`, http_proxy: proxy.replace('http://', '') };
/** Nothing listens at this proxy. */
const here = { SDP_URL: stage.api.url, HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' };
const ways: readonly (readonly [name: string, variables: Variables])[] = [
  ['by HTTPS', secure],
  ['by HTTP', plain],
  ['on this machine, without it', here],
];

/** Starts a runner whose tasks take longer than their lease. */
type Start = (template: string, variables: Variables) => { readonly log: () => string };
const typescriptRunner: Start = (template, variables) =>
  stage.spawn('test/sdk/support/runners/behaviours.ts', {
    TEMPLATE: template,
    BEHAVIOUR: 'busy',
    BUSY_MS: String((leaseSeconds + 1) * 1_000),
    ...variables,
  });
const pythonRunner: Start = (template, variables) => {
  const module = join(folder, `busy_${template.slice(2, 10)}.py`);
  const lines = [
    'import time, sdp',
    `@sdp.runner(templates=["${template}"])`,
    'def busy(task):',
    `    time.sleep(${leaseSeconds + 1})`,
    '    task.write("computed true")',
  ];
  writeFileSync(module, lines.join('\n'));
  const token = { SDP_RUNNER_TOKEN: stage.people.Developer.token };
  return processes.startScript('-m', { ...token, ...variables }, { program: python, args: ['sdp', module] });
};

/** Sends the files of a folder. @returns the exit code */
type Send = (path: string, sessionId: string, variables: Variables) => Promise<number | string | null>;
const typescriptAgent: Send = async (path, sessionId, variables) =>
  (await startSdp(['watch-folder', path, '--settle', '1', '--once', '--session', sessionId], variables).ended)
    .code;
const pythonAgent: Send = (path, sessionId, variables) => {
  const args = ['sdp.watch_folder', path, '--settle', '1', '--once', '--session', sessionId];
  return processes.startScript('-m', variables, { program: python, args }).ended;
};

const languages = [
  { language: 'TypeScript', start: typescriptRunner, send: typescriptAgent },
  ...(missing === '' ? [{ language: 'Python', start: pythonRunner, send: pythonAgent }] : []),
];

describe.each(languages)('in $language', ({ language, start, send }) => {
  test.concurrent.each(ways)('a runner works through the proxy %s', async (_, variables) => {
    const graph = await stage.chainOf(1, { leaseSeconds });
    start(graph.template, variables);
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n1', 'Succeeded');
    expect(await stage.outputs(graph, 'n1')).toEqual(['computed true']);
    expect(await stage.claims(graph, 'n1')).toMatchObject([{ attempt: 1, ending: 'complete' }]);
  });

  test.concurrent.each(ways)('an agent sends through the proxy %s', async (way, variables) => {
    const graph = await stage.chainOf(1);
    const files = { 'short.csv': 'a\n1\n', 'long.bin': randomBytes(17 * mebibyte) };
    const path = captures(join(folder, `${language} ${way}`), files);
    const token = { SDP_TOKEN: stage.people.offlineToken };
    expect(await send(path, graph.sessionId, { ...token, ...variables })).toBe(0);
    expect(await outputsOf(stage, graph)).toHaveLength(2);
  });

  test.concurrent('a runner reaches the hosts of NO_PROXY without the proxy', async () => {
    const graph = await stage.chainOf(1);
    const running = start(graph.template, { ...secure, NO_PROXY: '.test', SDP_RUNNER_LOG: 'debug' });
    await eventually('it has looked for the name', async () =>
      /ENOTFOUND|EAI_AGAIN|Errno -/.test(running.log()),
    );
  });
});
