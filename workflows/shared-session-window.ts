/**
 * The workflow of a shared session's window: open until the session is closed, or for a day after the window.
 *
 * It owns the wait for a future close, and shows operators the participants, the window, the close and when it falls
 * due. It decides nothing: what to wait for is read from the database, and a lost or doubled signal changes nothing.
 */
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { WindowActivities } from '../activities/window.ts';
import type { WindowState } from '../domain/sessions/shared-session.ts';
import { activityNames, type SharedSessionWindowInput, wakeSignal } from './contract.ts';

const wake = defineSignal(wakeSignal);
/** Beyond this many events the workflow continues as new. */
const maxHistoryEvents = 2_000;
/** A window may lie years ahead; no timer is set for longer than this. */
const maxWaitMs = 30 * 24 * 3_600_000;
const infrastructureRetry = {
  initialInterval: '100ms',
  backoffCoefficient: 2,
  maximumInterval: '2s',
} as const;

const { [activityNames.reconcileWindow]: reconcileWindow } = proxyLocalActivities<WindowActivities>({
  startToCloseTimeout: '10s',
  localRetryThreshold: '1m',
  retry: infrastructureRetry,
});
const { [activityNames.endWindow]: endWindow } = proxyActivities<WindowActivities>({
  startToCloseTimeout: '10s',
  retry: infrastructureRetry,
});

interface Timer {
  readonly dueAt: string;
  readonly scope: CancellationScope;
}

/** @returns how it ended, for readers of the history */
export async function sharedSessionWindow(input: SharedSessionWindowInput): Promise<string> {
  let dirty = true;
  let shown: WindowState | undefined;
  let timer: Timer | undefined;
  setHandler(wake, () => {
    dirty = true;
  });

  function syncTimer(state: WindowState): void {
    if (state.dueAt === null || timer?.dueAt === state.dueAt) return;
    timer?.scope.cancel();
    const own: Timer = { dueAt: state.dueAt, scope: new CancellationScope() };
    timer = own;
    const ring = () => {
      if (timer === own) timer = undefined;
      dirty = true;
    };
    const waitMs = Math.min(Math.max(state.dueInMs, 1), maxWaitMs);
    void own.scope.run(() => sleep(waitMs, { summary: waitSummary(state) })).then(ring, () => {});
  }

  for (;;) {
    await condition(() => dirty);
    dirty = false;
    const state = await reconcileWindow(input.sessionId);
    if (state === null) return 'The session was deleted.';
    if (!isSame(shown, state)) show(state);
    shown = state;
    if (state.dueAt === null) return state.closesAt === null ? 'Over without a close.' : 'Closed.';
    if (state.dueInMs === 0) {
      await endWindow.executeWithOptions({ summary: endSummary(state) }, [input.sessionId]);
      dirty = true;
      continue;
    }
    syncTimer(state);
    if (workflowInfo().historyLength > maxHistoryEvents && !dirty) {
      await continueAsNew<typeof sharedSessionWindow>(input);
    }
  }
}

function isSame(left: WindowState | undefined, right: WindowState): boolean {
  return (
    left !== undefined &&
    left.participants === right.participants &&
    left.window === right.window &&
    closeText(left) === closeText(right)
  );
}

/** The summary for operators: no names, no reason. */
function show(state: WindowState): void {
  const { participants, window } = state;
  const close = closeText(state);
  upsertMemo({ participants, window, close });
  setCurrentDetails(
    [`Participants: ${participants}`, `Window: ${window ?? 'none'}`, `Close: ${close}`].join('  \n'),
  );
}

function closeText({ closesAt, dueAt }: WindowState): string {
  if (closesAt === null) return 'not closed';
  return dueAt === null ? `closed at ${closesAt}` : `falls due at ${closesAt}`;
}

function waitSummary(state: WindowState): string {
  return state.closesAt === null
    ? `waits for a close until ${state.dueAt}`
    : `the close falls due at ${state.dueAt}`;
}

function endSummary(state: WindowState): string {
  return state.closesAt === null ? 'the time after the window is over' : 'the close falls due';
}
