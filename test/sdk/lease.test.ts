/** Leases of runners whose code blocks the process. */
import { expect, test } from 'vitest';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
/** The shortest that a node template may have. */
const leaseSeconds = 10;

test('a runner that computes for longer than its lease, and lets nothing else in, keeps the task', async () => {
  const graph = await stage.chainOf(1, { leaseSeconds });
  await stage.startProcess('test/sdk/support/runners/behaviours.ts', {
    TEMPLATE: graph.template,
    BEHAVIOUR: 'busy',
    BUSY_MS: String((leaseSeconds + 3) * 1_000),
  });
  await stage.upload(graph, 'input', 'bytes');
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.latest(graph, 'n1')).toBe('computed true');
  expect(await stage.claims(graph, 'n1')).toMatchObject([{ attempt: 1, ending: 'complete' }]);
});
