/**
 * Places between two stores at which a process can be made to crash, to fail or to wait, to show that nothing is lost
 * or doubled there. Without `FAILPOINT` and `FAILPOINT_DIR` a failpoint costs a comparison.
 *
 * `FAILPOINT=<name>` crashes the process each time that the point is reached; with `FAILPOINT_SIGNAL=SIGSTOP` it stops
 * there until it is continued. `FAILPOINT_DIR=<path>` names a folder in which a file of the point's name holds the action
 * while the point is armed; the first process to reach it removes the file and acts.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Every failpoint, in the order of an upload's way; what has happened when it is reached. */
export const failpoints = {
  /** All bytes of a resumable upload are stored and recorded, its object is not assembled. */
  'upload-whole': 'commit of the last piece, before the object is assembled',
  /** The bytes of an upload are stored, its row is not written. */
  'upload-stored': 'S3 put, before the commit',
  /** The upload's transaction has committed, its session's workflow was not notified. */
  'upload-committed': 'commit of an upload, before the signal and the answer',
  /** An upload is in its project's queue, it was not acknowledged. */
  'upload-queued': 'commit of a queued upload, before the answer',
  /** A managed ingest made or fed a session, it was not acknowledged. */
  'ingest-fed': 'commit of an ingest, before the answer',
  /** Queued uploads are packed into an object that nothing refers to yet. */
  'ingest-packed': 'S3 put of a bundle, before the commit',
  /** Queued uploads are published, the session's workflow was not notified. */
  'ingest-published': 'commit of a drain, before the signal',
  /** A claim has committed, its reply was not written. */
  claimed: 'commit of a claim, before the reply',
  /** The bytes of a task's output are stored, its row is not written. */
  'task-output-stored': 'S3 put of an output, before the commit',
  /** A task's output has committed, the runner was not answered. */
  'task-output-committed': 'commit of an output, before the answer',
  /** The store has assembled an object from its parts, the output is not written. */
  'multipart-completed': 'S3 multipart complete, before the commit',
  /** The watermark has moved with what it publishes, the runner was not answered. */
  'watermark-committed': 'commit of a watermark, before the answer',
  /** The end of a task has committed, the session's workflow was not notified. */
  'end-committed': 'commit of an outcome, before the signal and the answer',
  /** A reprocess has committed, the session's workflow was not notified. */
  'reprocess-committed': 'commit of a reprocess, before the signal and the answer',
  /** A reconcile of a session is recorded in the database, Temporal was not answered. */
  'session-advanced': 'commit of a reconcile, before the answer to Temporal',
  /** A shared session is opened or joined, its window's workflow was not notified. */
  'shared-committed': 'commit of a join, before the signal and the answer',
  /** A session is closed, its window's workflow was not notified. */
  'close-committed': 'commit of a close, before the signal and the answer',
  /** The end of a window is recorded in the database, Temporal was not answered. */
  'window-ended': 'commit of the end of a window, before the answer to Temporal',
  /** A session's rows are gone, its objects and its workflow still exist. */
  'session-deleted': 'commit of a deletion, before objects and workflow go',
  /** An object is deleted, the queue of deletions still holds its row. */
  'object-deleted': 'S3 delete, before its row goes',
  /** The work of a call under an idempotency key has committed, its reply was not saved. */
  'key-made': 'commit of what a key makes, before its reply is kept',
} as const;

export type Failpoint = keyof typeof failpoints;

/** `crash`: as `kill -9`. `error`: an exception. `delay`: {@link delayMs} in which the process continues other work. */
export const failActions = ['crash', 'error', 'delay'] as const;
type FailAction = (typeof failActions)[number];

const delayMs = 400;

/** An armed point that was reached. */
class FailpointError extends Error {
  constructor(point: Failpoint) {
    super(`The failpoint ${point} is armed.`);
    this.name = 'FailpointError';
  }
}

const crashing = process.env.FAILPOINT;
const crashSignal = process.env.FAILPOINT_SIGNAL ?? 'SIGKILL';
const armedFolder = process.env.FAILPOINT_DIR;
const isOff = crashing === undefined && armedFolder === undefined;
const done = Promise.resolve();

/** Crashes, throws {@link FailpointError} or waits when the point is armed. */
export function failpoint(point: Failpoint): Promise<void> {
  return isOff ? done : reached(point);
}

async function reached(point: Failpoint): Promise<void> {
  const action = crashing === point ? 'crash' : consumeArmed(point);
  if (action === 'crash') process.kill(process.pid, crashSignal);
  if (action === 'error') throw new FailpointError(point);
  if (action === 'delay') await new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Each arming counts once, over all processes. */
function consumeArmed(point: Failpoint): FailAction | undefined {
  if (armedFolder === undefined) return undefined;
  const file = join(armedFolder, point);
  try {
    const action = readFileSync(file, 'utf8').trim();
    rmSync(file);
    return failActions.find((known) => known === action);
  } catch {
    return undefined;
  }
}
