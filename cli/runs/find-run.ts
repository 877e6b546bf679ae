/** The run that an argument names. */
import { InvalidArgumentError } from 'commander';
import { ApiError } from '../../client/errors.ts';
import { isUuid } from '../../client/uuid.ts';
import type { PlatformClient } from '../platform-client.ts';

export const runArgument = 'id of a run, or of a node instance: its newest run';

const isNode = (text: string) => /^[1-9]\d{0,15}$/.test(text);

/** The id of a run or of a node instance. */
export function runOrNode(value: string): string {
  if (isNode(value) || isUuid(value)) return value.toLowerCase();
  throw new InvalidArgumentError('It must be the id of a run or of a node instance.');
}

/** @throws ApiError when there is no such node, or it has no run */
export async function findRun(platform: PlatformClient, named: string): Promise<string> {
  if (!isNode(named)) return named;
  const nodeInstanceId = Number(named);
  const { nodeRuns } = await platform.call('GET /api/v2/node-runs', {
    query: { nodeInstanceId, pageSize: 1 },
  });
  const [newest] = nodeRuns;
  if (newest !== undefined) return newest.id;
  // A node that does not exist is refused here.
  await platform.call('GET /api/v2/node-instance/{nodeInstanceId}/explain', { params: { nodeInstanceId } });
  throw new ApiError({ status: 404, message: `Node ${named} has no run.` });
}
