/** What the workers make in Temporal, and that they ask before they make it again. */
import { randomUUID } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ensureNamespace } from '../../worker/temporal.ts';
import { searchAttributes } from '../../workflows/contract.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();

test('namespace and search attributes are made once; nothing that is there is made again', async () => {
  const connection = await NativeConnection.connect({ address: platform.environment.TEMPORAL_ADDRESS! });
  onTestFinished(() => connection.close());
  const namespace = `made-${randomUUID()}`;
  const makes = [
    vi.spyOn(connection.workflowService, 'registerNamespace'),
    vi.spyOn(connection.operatorService, 'addSearchAttributes'),
  ];
  await expect
    .poll(() => ensureNamespace(connection, namespace).catch(() => false), { timeout: 60_000 })
    .toBe(true);
  const aliases = async () => {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    return Object.values(config?.customSearchAttributeAliases ?? {}).sort();
  };
  await expect.poll(aliases, { timeout: 60_000 }).toEqual(Object.keys(searchAttributes).sort());
  for (const make of makes) make.mockClear();
  expect(await ensureNamespace(connection, namespace)).toBe(true);
  for (const make of makes) expect(make).not.toHaveBeenCalled();
});
