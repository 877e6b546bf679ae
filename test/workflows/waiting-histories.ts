/** Histories of workflows that wait: of a session's retries, and of the window of a shared session. */

import type { ReconcileResult } from '../../domain/runs/reconcile-result.ts';
import type { WindowState } from '../../domain/sessions/shared-session.ts';
import { activityNames } from '../../workflows/contract.ts';
import { MadeHistory } from './made-history.ts';

const nothing: ReconcileResult = {
  ...{ start: [], drop: [], due: null, waiting: [], ended: [], failedNodes: 0, lookInMs: null, again: false },
};
const due = { nodeName: 'n1', attempt: 2, maxAttempts: 3, dueInMs: 900 };
const waits: ReconcileResult = {
  ...nothing,
  due: { ...due, runId: 'run', dueAt: '2026-11-21T00:00:00.000Z' },
  waiting: [{ ...due, runId: 'run', dueAt: '2026-11-21T00:00:00.000Z' }],
};

function sessionHistory(
  events: (history: MadeHistory, reconcile: (result: ReconcileResult) => void) => void,
) {
  const history = new MadeHistory('plain.json');
  events(history, (result) => history.localActivity(activityNames.reconcileSession, result));
  history.command('WORKFLOW_EXECUTION_COMPLETED');
  return history.text;
}

export const sessionHistories = {
  'facts arrived during a reconcile: it reconciles again at once, and only then it ends': () =>
    sessionHistory((_history, reconcile) => {
      reconcile({ ...nothing, again: true });
      reconcile(nothing);
    }),
  'a run that still waits when its timer has rung gets another timer': () =>
    sessionHistory((history, reconcile) => {
      for (const timer of ['1', '2']) {
        reconcile(waits);
        history.timer(timer)('fires');
      }
      reconcile(nothing);
    }),
  'a run that waits again for the same time, as after a freeze, gets another timer': () =>
    sessionHistory((history, reconcile) => {
      reconcile(waits);
      const first = history.timer('1');
      history.wake();
      reconcile({ ...nothing, lookInMs: 60_000 });
      history.timer('2');
      first('is cancelled');
      history.wake();
      reconcile(waits);
      history.timer('3')('fires');
      reconcile(nothing);
    }),
} as const;

const dueAt = '2028-11-23T00:00:00.000Z';
const window: WindowState = {
  ...{ participants: 1, window: '2028-11-21T00:00:00.000Z/2028-11-22T00:00:00.000Z', closesAt: null },
  ...{ dueAt, dueInMs: 63_072_000_000 },
};

/** The window of a session that lies years ahead, reconciled so many times before the end. */
export function windowHistory(times: number, by: 'timer' | 'wakes', end: 'completed' | 'continued'): string {
  const history = new MadeHistory('window.json');
  const reconcile = (state: WindowState) => history.localActivity(activityNames.reconcileWindow, state);
  for (let time = 1; time <= times; time += 1) {
    reconcile(window);
    if (time === 1) history.command('WORKFLOW_PROPERTIES_MODIFIED');
    if (time === 1 || by === 'timer') {
      const timer = history.timer(`${time}`);
      if (by === 'timer') timer('fires');
    }
    if (by === 'wakes' && time < times) history.wake();
  }
  if (end === 'continued') history.continuedAsNew();
  else {
    if (by === 'wakes') history.wake();
    reconcile({ ...window, dueAt: null });
    history.command('WORKFLOW_EXECUTION_COMPLETED');
  }
  return history.text;
}
