/** Repeated calls, replaced processes, and old histories under the present code. */
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '../../../worker/bundle.ts';
import { workflowCache } from '../../support/caches.ts';
import { type FaultKind, nothingToHeal } from './fault.ts';
import { roles, type Slot } from './slot.ts';

/** Calls that are sent more than once each time. */
const repeatedAtLeast = { small: 10, full: 200 } as const;

export const repeated: FaultKind = {
  number: 18,
  name: 'every change sent twice at once, and once more later',
  async inject({ caller, journal, size }) {
    const { ambiguous } = journal.counts;
    caller.repeatAfterMs = size === 'small' ? 1_000 : 5_000;
    const heal = () => {
      caller.repeatAfterMs = undefined;
    };
    return { heal, isFelt: () => journal.counts.ambiguous - ambiguous >= repeatedAtLeast[size] };
  },
};

export const rolling: FaultKind = {
  number: 19,
  name: 'rolling restart by SIGTERM',
  unavailable: (platform) => (platform.of('API').length < 2 ? 'needs two of each process' : undefined),
  async inject({ platform, caller, journal, size, isAlone }) {
    const apis = platform.of('API');
    const replaced = size === 'small' ? (['API', 'worker'] as const) : roles;
    const over = new AbortController();
    const balancer = Promise.all(apis.map((slot) => askWhetherReady(slot, over.signal)));
    const failedBefore = failures();
    // One of each kind at a time, as deployments do it.
    for (const at of apis.keys())
      await Promise.all(
        replaced.flatMap((role) => platform.of(role).slice(at, at + 1)).map((slot) => slot.restart()),
      );
    over.abort();
    await balancer;
    // Waits for the calls that were sent to the last of them, because they may hang.
    await caller.tally.untilOthersEnded();
    const failed = failures() - failedBefore;
    // Another kind's fault makes calls fail by itself.
    if (failed > 0 && isAlone)
      journal.find(
        'recovered',
        `${failed} calls failed or hung while processes were replaced one by one: ${JSON.stringify([...caller.tally.errors])}`,
      );
    return nothingToHeal;

    function failures(): number {
      return caller.tally.made - caller.tally.all.served;
    }
  },
};

/** As a balancer does: a process that is not ready gets no further calls. */
async function askWhetherReady(slot: Slot, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const answer = await fetch(`${slot.directUrl}/ready_check`, { headers: { connection: 'close' } }).catch(
      () => undefined,
    );
    slot.isInRotation = answer?.ok === true;
    await answer?.body?.cancel();
    await delay(50);
  }
  slot.isInRotation = true;
}

/** Newest first. */
const replayedAtMost = { small: 20, full: 200 } as const;

export const replayed: FaultKind = {
  number: 20,
  name: 'the present code over the histories of these runs',
  async inject({ platform, journal, size }) {
    let count = 0;
    const histories = async function* () {
      for await (const { workflowId, runId } of platform.operator.workflow.list()) {
        if (count === replayedAtMost[size]) return;
        count += 1;
        const history = await platform.operator.workflow.getHandle(workflowId, runId).fetchHistory();
        yield { workflowId, history };
      }
    };
    const bundle = await workflowBundle(workflowCache);
    const results = Worker.runReplayHistories(
      { workflowBundle: bundle, replayName: 'campaign' },
      histories(),
    );
    for await (const { workflowId, error } of results)
      if (error !== undefined) journal.find('stuck', `${workflowId} does not replay: ${error.message}`);
    return { ...nothingToHeal, isFelt: () => count > 0 };
  },
};
