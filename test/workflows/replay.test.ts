import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import { workflowBundle } from '../../worker/bundle.ts';
import { quietRuntime } from '../support/workflows.ts';
import { sessionHistories, windowHistory } from './waiting-histories.ts';
import { wokenHistory } from './woken-history.ts';

const folder = join(import.meta.dirname, '../histories');
const files = readdirSync(folder).filter((name) => /\.json(\.gz)?$/.test(name));

function textOf(file: string): string {
  const bytes = readFileSync(join(folder, file));
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}

/** With the contents of payloads, which are in base64. */
function readable(text: string): string {
  return text.replace(/"data": "([A-Za-z0-9+/=]+)"/g, (_, data) => Buffer.from(data, 'base64').toString());
}

let bundle: { code: string };
beforeAll(async () => {
  quietRuntime();
  bundle = await workflowBundle();
});

/** The faults found by replaying a history against the present workflows. */
async function replay(text: string, workflowBundle = bundle): Promise<Error | undefined> {
  const history = proto.temporal.api.history.v1.History.fromObject(JSON.parse(text));
  const results = Worker.runReplayHistories({ workflowBundle, replayName: 'saved' }, [
    { workflowId: 'saved', history },
  ]);
  for await (const { error } of results) return error;
  throw new Error('Nothing was replayed.');
}

describe('workflows that run during an update continue: recorded histories replay', () => {
  test.for(files)('%s', async (file) => {
    expect(await replay(textOf(file))).toBeUndefined();
  });

  test('there is a history of each kind', () => {
    const kinds = files.map((file) => file.split('.')[0]);
    expect(kinds).toEqual(
      expect.arrayContaining([
        'builtin',
        'cancelled',
        'continued-as-new',
        'dropped-wait',
        'ingest',
        'plain',
        'reconciles-sooner',
        'reports',
        'retry',
        'timers',
        'webhook',
        'window',
      ]),
    );
    for (const [file, event] of [
      ['plain.json', 'EVENT_TYPE_ACTIVITY_TASK_COMPLETED'],
      ['retry.json', 'EVENT_TYPE_TIMER_FIRED'],
      ['timers.json', 'EVENT_TYPE_TIMER_CANCELED'],
      ['dropped-wait.json', 'EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED'],
      ['cancelled.json', 'EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED'],
      ['continued-as-new.json', 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW'],
      ['builtin.json', 'runBuiltin'],
      ['window.json', 'endWindow'],
      ['ingest.json', 'drainQueue'],
      ['reports.json', 'writeReports'],
      ['webhook.json', 'deliverWebhook'],
    ] as const)
      expect(textOf(files.find((name) => name.startsWith(file))!), file).toContain(event);
  });

  test('a history that the workflow would not produce is detected', async () => {
    const changed = textOf('plain.json').replaceAll('"awaitOutcome"', '"somethingElse"');
    expect(await replay(changed)).toMatchObject({ name: 'DeterminismViolationError' });
  });

  test('a workflow with a new command in an old place is detected, unless it is patched', async () => {
    const begin = 'async function sessionRun(input) {';
    const library = /\b\w*temporalio_workflow\w*(?=\.setHandler\))/.exec(bundle.code)?.[0];
    expect(bundle.code.split(begin)).toHaveLength(2);
    const changed = (step: string) => ({ code: bundle.code.replace(begin, `${begin}\n${step}`) });
    const nap = `await ${library}.sleep(1000);`;
    const history = textOf('plain.json');
    expect(await replay(history, changed(nap))).toMatchObject({ name: 'DeterminismViolationError' });
    expect(await replay(history, changed(`if (${library}.patched('nap')) ${nap}`))).toBeUndefined();
  });

  test.for(files)('%s reveals nothing of the machine on which it was recorded', (file) => {
    const text = readable(textOf(file));
    expect(text).not.toContain(hostname());
    // Process and host, addresses with ports, and paths.
    expect(text.match(/\d+@|127\.0\.0\.1|localhost|node_modules|"\/[a-z]|file:/g)).toBeNull();
  });
});

describe('a workflow that is woken while its activity answers that nothing is to come', () => {
  test('calls it once more before it ends', async () => {
    expect(await replay(wokenHistory(2, 'completed'))).toBeUndefined();
  });

  test('continues as new when its history has grown long', async () => {
    // Seven events a wake, after five at the beginning; it continues beyond a thousand.
    expect(await replay(wokenHistory(143, 'continued'))).toBeUndefined();
    expect(await replay(wokenHistory(143, 'completed'))).toMatchObject({ name: 'DeterminismViolationError' });
  });
});

describe('the workflow of a session', () => {
  test.for(Object.entries(sessionHistories))('%s', async ([_name, history]) => {
    expect(await replay(history())).toBeUndefined();
  });
});

describe('the workflow of a window that lies years ahead', () => {
  test('waits again when its timer has rung before the time', async () => {
    expect(await replay(windowHistory(3, 'timer', 'completed'))).toBeUndefined();
  });

  test('continues as new when its history has grown long', async () => {
    // Five events a wake; it continues beyond two thousand.
    expect(await replay(windowHistory(401, 'wakes', 'continued'))).toBeUndefined();
    expect(await replay(windowHistory(401, 'wakes', 'completed'))).toMatchObject({
      name: 'DeterminismViolationError',
    });
  });
});
