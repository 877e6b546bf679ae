/** How long after a fault has ended every process serves again. */

import { setTimeout as delay } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { Stalls } from '../../../sdk/conformance/stalls.ts';
import { builtinQueueOf, defaultTaskQueue } from '../../../workflows/contract.ts';
import { json } from './caller.ts';
import type { CampaignPlatform } from './platform.ts';
import type { Slot, SlotRole } from './slot.ts';
import type { Stage } from './stage.ts';

const { TaskQueueType } = proto.temporal.api.enums.v1;
const pollMs = 50;
const answerMs = 2_000;

export interface Recovery {
  /**
   * Of the last process to serve, after the end of the fault, without times in which this process itself did not run;
   * infinite when one did not within the limit.
   */
  readonly ms: number;
  readonly slowest: string;
}

/** Waits until every API process has accepted an upload and every worker process polls its queue. */
export async function servesAgain(
  platform: CampaignPlatform,
  stage: Stage,
  limitMs: number,
): Promise<Recovery> {
  const probes = platform.slots.map((slot) => ({
    name: slot.name,
    probe: () => serves(platform, slot, stage),
  }));
  return await untilServed(probes, limitMs);
}

/** Waits until a new recording has gone through its graph of built-in nodes. */
export async function convertsAgain(
  platform: CampaignPlatform,
  stage: Stage,
  limitMs: number,
): Promise<Recovery> {
  return await untilServed(
    [{ name: 'a graph of built-in nodes', probe: graphProbe(platform, stage) }],
    limitMs,
  );
}

interface Probe {
  readonly name: string;
  readonly probe: () => Promise<boolean>;
}

async function untilServed(probes: readonly Probe[], limitMs: number): Promise<Recovery> {
  const startedAt = performance.now();
  const stalls = new Stalls();
  const passedMs = () => stalls.ranMs(startedAt);
  const times = await Promise.all(
    probes.map(async ({ name, probe }) => {
      while (passedMs() < limitMs) {
        if (await probe().catch(() => false)) return { name, ms: passedMs() };
        await delay(pollMs);
      }
      return { name, ms: Number.POSITIVE_INFINITY };
    }),
  );
  stalls.stop();
  const slowest = times.reduce((worst, time) => (time.ms > worst.ms ? time : worst));
  return { ms: slowest.ms, slowest: slowest.name };
}

function serves(platform: CampaignPlatform, slot: Slot, stage: Stage): Promise<boolean> {
  return slot.role === 'API' ? takesUpload(slot, stage) : polls(platform, slot, slot.role);
}

async function takesUpload(slot: Slot, stage: Stage): Promise<boolean> {
  const nodeId = stage.stores[0]!.nodes.input!;
  const reply = await ask(slot, `/api/v2/node-instance/${nodeId}/outputs/data`, stage.token, 'probe', {
    'content-type': 'text/plain',
    'x-platform-output-identifier': `probe-${slot.port}`,
  });
  return reply.ok;
}

/** A listed process has polled for work since the server started. */
async function polls(platform: CampaignPlatform, { pid }: Slot, role: SlotRole): Promise<boolean> {
  const isBuiltin = role === 'built-in worker';
  const type = isBuiltin ? TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY : TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW;
  const described = await platform.operator.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: isBuiltin ? builtinQueueOf(defaultTaskQueue) : defaultTaskQueue },
    taskQueueType: type,
  });
  return (described.pollers ?? []).some(({ identity }) => identity?.startsWith(`${pid}@`) === true);
}

/** A new session of the shipped template, an upload to it, and all nodes done. */
function graphProbe(platform: CampaignPlatform, stage: Stage): () => Promise<boolean> {
  let session: { id: string; nodeInstances: { id: number }[] } | undefined;
  let isUploaded = false;
  const slot = () => platform.of('API').find(({ pid }) => pid !== undefined) ?? platform.of('API')[0]!;
  return async () => {
    if (session === undefined) {
      const { projectId, templateId, token } = stage;
      const body = JSON.stringify({ Name: 'Probe', ProjectId: projectId, SessionTemplateId: templateId });
      const made = await ask(slot(), '/session', token, body, { 'content-type': 'application/json' });
      if (!made.ok) return false;
      session = json(made);
    }
    if (!isUploaded) {
      const path = `/api/v2/node-instance/${session!.nodeInstances[0]!.id}/outputs/data`;
      const headers = { 'content-type': 'text/csv', 'x-platform-output-identifier': 'probe.csv' };
      isUploaded = (await ask(slot(), path, stage.token, 'time,speed\n0,1\n1,2\n', headers)).ok;
      if (!isUploaded) return false;
    }
    const rows = await platform.database.query<{ state: string }>(
      `select 1 from node_instance n where n.session_id = $1 and n.newest_output_id is null`,
      [session!.id],
    );
    return rows.length === 0;
  };
}

async function ask(slot: Slot, path: string, token: string, body: string, headers: Record<string, string>) {
  const response = await fetch(slot.directUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, connection: 'close', ...headers },
    body,
    signal: AbortSignal.timeout(answerMs),
  });
  return { ok: response.status < 300, body: Buffer.from(await response.arrayBuffer()) };
}
