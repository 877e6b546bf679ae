/** The kit finds nothing in a correct runner, and names the rule that each broken one breaks. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import { nodeRunner, play, troubles } from './kit.ts';

/** The file in `broken/`, a scenario, and the rule by which it is caught there. */
const broken: readonly (readonly [file: string, scenario: string, rule: string])[] = [
  ['forgets-heartbeat', 'heartbeat', 'heartbeat-missing'],
  ['does-not-resend', 'output-answer-lost', 'output-not-resent'],
  ['changes-identifier', 'output-answer-lost', 'identifier-changed'],
  ['goes-on-after-loss', 'lease-lost', 'wrote-after-loss'],
  ['goes-on-after-loss', 'lease-lost-at-write', 'wrote-after-loss'],
  ['claims-while-holding', 'plain', 'claimed-while-holding'],
  ['ignores-cancel', 'cancel', 'cancel-ignored'],
  ['does-not-repeat-complete', 'complete-answer-lost', 'end-not-repeated'],
  ['leaves-out-instance', 'plain', 'instance-header-missing'],
  ['ignores-cursor', 'input-pages', 'cursor-not-followed'],
  ['uses-half-inputs', 'input-cut', 'truncated-input-used'],
  ['forgets-has-more', 'incremental-cap', 'has-more-missing'],
  ['moves-watermark-first', 'failed-after-watermark', 'failed-after-watermark'],
  ['names-outputs-by-task', 'redelivery', 'output-doubled'],
  ['goes-on-after-401', 'token-revoked', 'went-on-after-401'],
  ['hammers-after-401', 'token-revoked', 'hammering'],
  ['dies-at-sigterm', 'stop-while-working', 'stopped-without-release'],
  ['shares-instance', 'two-copies', 'instance-shared'],
  ['writes-after-complete', 'plain', 'wrote-after-end'],
  ['writes-too-much', 'plain', 'output-too-large'],
  ['repeats-log-sequence', 'plain', 'log-sequence'],
  ['drops-next', 'next-answer-lost', 'next-dropped'],
  ['sends-token-to-store', 'input-redirect', 'token-sent-to-store'],
  ['trusts-the-store', 'input-redirect-broken', 'store-not-survived'],
];

test.concurrent('a correct runner passes every scenario without a warning', async () => {
  const under = nodeRunner('reference-runner.ts', { incremental: true });
  const results = await play({ ...under, command: `${under.command} --parts` }, undefined, 6);
  expect(troubles(results)).toEqual([]);
  expect(results.map(({ name, verdict }) => [name, verdict])).toEqual(
    scenarios.map(({ name }) => [name, 'pass']),
  );
});

test.concurrent.for(broken)('%s is caught in %s as %s', async ([file, scenario, rule]) => {
  const incremental = scenarios.some(({ name, incremental }) => name === scenario && incremental);
  const results = await play(nodeRunner(`broken/${file}.ts`, { incremental, patienceMs: 4_000 }), [scenario]);
  const result = results.find(({ name }) => name === scenario);
  expect(
    result?.findings.map((finding) => finding.rule),
    JSON.stringify(results, null, 2),
  ).toContain(rule);
  expect(result?.verdict).toBe('fail');
});

/** Allowed behaviour that costs both sides too much. */
const wasteful: readonly (readonly [file: string, scenario: string, rule: string])[] = [
  ['polls-busily', 'no-work', 'busy-polling'],
  ['heartbeats-all-the-time', 'heartbeat', 'heartbeats-too-frequent'],
];
test.concurrent.for(wasteful)('%s is warned of in %s as %s, not failed', async ([file, scenario, rule]) => {
  const [result] = await play(nodeRunner(`broken/${file}.ts`), [scenario]);
  expect(result?.findings.map((finding) => finding.rule)).toEqual([rule]);
  expect(result?.verdict).toBe('warn');
});

test.concurrent('a shell that ends at SIGTERM before the runner that it started is no fault of the runner', async () => {
  const under = nodeRunner('slow-to-stop.ts');
  const command = `${under.command.replace('exec ', '')} ; exit 0`;
  const results = await play({ ...under, command }, ['stop-while-working', 'stop-while-waiting']);
  expect(
    results.map(({ verdict }) => verdict),
    JSON.stringify(troubles(results), null, 2),
  ).toEqual(['pass', 'pass']);
});

test('every broken runner of the folder is played', () => {
  const files = readdirSync(new URL('broken/', import.meta.url)).map((file) => file.replace('.ts', ''));
  expect([...new Set([...broken, ...wasteful].map(([file]) => file))].sort()).toEqual(files.sort());
});
