/**
 * `npm run demo`: takes a real recording from upload to dashboard on a running platform, and shows where to look.
 */
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { ApiError } from '../client/errors.ts';
import { defaultSessionName } from '../client/session-name.ts';
import type { Session } from '../client/types.ts';
import { contentTypeOf } from './content-type.ts';
import { type FoundPlatform, findPlatform } from './find-platform.ts';
import { signInLocally } from './local-sign-in.ts';
import { localTime } from './output.ts';
import { PlatformClient } from './platform-client.ts';
import { Progress } from './progress.ts';
import { secretFrom } from './prompt.ts';
import { uploadFile } from './transfers.ts';

const templateName = 'system-tabular-dashboard-autodetect-next';
const recording = join(
  import.meta.dirname,
  '../node_modules/vega-datasets/data/seattle-weather-hourly-normals.csv',
);
/** How long the demo waits for the graph before it reports the unfinished nodes. */
const patienceMs = 120_000;

interface Options {
  readonly url?: string;
  readonly username?: string;
  readonly password?: string;
  readonly file: string;
}

async function main(options: Options): Promise<void> {
  const running = await findPlatform(options.url ?? process.env.SDP_URL ?? addressOfPort(process.env.PORT));
  // Before a password is asked for: the platform may not be running.
  await new PlatformClient(running.address).call('GET /api/v2/health');
  const { platform, username } = await signedIn(running, options);
  console.log(`Signed in to ${running.address} as ${username}.`);
  const session = await createSession(platform, options.file);
  await uploadRecording(platform, session, options.file);
  const finished = await followGraph(platform, session.id);
  const { dimensions } = await platform.call('GET /api/v2/sessions/{id}', { params: { id: session.id } });
  console.log('');
  for (const { url } of dimensions) console.log(`Dashboard         ${running.address}${url}`);
  console.log(`Session           ${running.address}/sessions/${session.id}`);
  if (running.temporalUiUrl) {
    console.log(
      `Workflow          ${running.temporalUiUrl}/namespaces/default/workflows/session-${session.id}`,
    );
  }
  if (!finished) process.exitCode = 1;
}

function addressOfPort(port: string | undefined): string | undefined {
  return port ? `http://127.0.0.1:${port}` : undefined;
}

/** Needs no password when `npm start` runs here; asks for one elsewhere, and for a named user. */
async function signedIn(running: FoundPlatform, { username = 'admin', ...options }: Options) {
  if (running.dataDir !== undefined && options.password === undefined && username === 'admin') {
    const local = await signInLocally(running.dataDir);
    const platform = new PlatformClient(running.address, { token: () => local?.token });
    if (local !== undefined && (await isTaken(platform))) return { platform, username: local.username };
  }
  const password = options.password ?? (await askPassword(username));
  const { accessToken } = await new PlatformClient(running.address).call('POST /api/authorization/token', {
    body: { username, password, rememberMe: false },
  });
  return { platform: new PlatformClient(running.address, { token: () => accessToken }), username };
}

/** False when the platform was given other keys than the data folder's, and so refuses the token. */
async function isTaken(platform: PlatformClient): Promise<boolean> {
  try {
    await platform.call('GET /user_data');
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

async function askPassword(username: string): Promise<string> {
  if (process.env.ADMIN_PASSWORD) return process.env.ADMIN_PASSWORD;
  if (!process.stdin.isTTY) {
    throw new Error(
      'The password is missing: set ADMIN_PASSWORD or use --password. Without it, the demo can sign in only where ' +
        '`npm start` runs, as the same user, with the same DATA_DIR and the embedded database.',
    );
  }
  return await secretFrom(false, `Password of ${username}: `);
}

async function createSession(platform: PlatformClient, file: string): Promise<Session> {
  const templates = await platform.call('GET /api/v2/session/session_templates');
  const template = templates.find(({ name }) => name === templateName);
  if (!template) throw new Error(`Session template not found: ${templateName}.`);
  const project = await platform.call('POST /projects', {
    body: {
      Title: 'Demonstration',
      Description: 'Created by npm run demo.',
      DefaultSessionTemplateId: template.id,
    },
  });
  const what = file === recording ? 'Seattle weather' : basename(file);
  const session = await platform.call('POST /session', {
    body: {
      Name: defaultSessionName(what, localTime(new Date())),
      ProjectId: project.id,
      SessionTemplateId: template.id,
    },
  });
  console.log(
    `Created project ${project.id} (${project.title}) and session ${session.id} (${session.name}).`,
  );
  return platform.call('GET /api/v2/sessions/{id}', { params: { id: session.id } });
}

async function uploadRecording(platform: PlatformClient, session: Session, file: string): Promise<void> {
  const input = session.nodeInstances.find(({ name }) => name === 'tabular-upload');
  if (!input) throw new Error('The session has no node tabular-upload.');
  const progress = new Progress();
  const started = Date.now();
  const request = { nodeInstanceId: input.id, file, contentType: contentTypeOf(file), retries: 5 };
  await uploadFile(platform, request, progress);
  progress.end(file, `Uploaded ${basename(file)} in ${Date.now() - started} ms.`);
}

/** Prints every change of a node's state; true when all have succeeded. */
async function followGraph(platform: PlatformClient, sessionId: string): Promise<boolean> {
  const printed = new Map<string, string>();
  const until = Date.now() + patienceMs;
  for (;;) {
    const progress = await platform.call('GET /api/v2/session/{id}/node-instances', {
      params: { id: sessionId },
    });
    for (const node of progress.nodeInstances) {
      const state = node.statusDetails ? `${node.state} (${node.statusDetails})` : node.state;
      if (printed.get(node.name) === state) continue;
      printed.set(node.name, state);
      console.log(`  ${node.name.padEnd(20)} ${state}`);
    }
    if (progress.summary.allSucceeded) return true;
    if (progress.summary.anyFailed) return false;
    if (Date.now() > until) {
      console.log('Still waiting. See the session page for details.');
      return false;
    }
    await delay(100);
  }
}

new Command('demo')
  .description('Uploads a real recording and follows it to its dashboard, on a running platform.')
  .option('--url <address>', 'address of the platform (default: the local npm start)')
  .option('--username <name>', 'username (default: admin)')
  .option(
    '--password <password>',
    'password (default: not needed with a local npm start, else ADMIN_PASSWORD, else prompt)',
  )
  .option('--file <path>', 'the recording: csv, tsv, json or parquet', recording)
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    console.error(error instanceof ApiError ? `${reason} (${error.status})` : reason);
    process.exitCode = 1;
  });
