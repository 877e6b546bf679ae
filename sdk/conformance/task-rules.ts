/** The rules of holding a task, of its end and of its log. */
import { routes, rule, rules1to4 } from './rule.ts';

export const taskRules = {
  // Holding a task
  'instance-header-missing': rule(
    'fail',
    `${rules1to4} 1`,
    'Every /tasks/{taskId}/... call sends X-Platform-Runner-Instance with the instanceId the task was claimed with.',
  ),
  'wrong-instance': rule(
    'fail',
    `${rules1to4} 1`,
    'A task belongs to the instance that claimed it; other callers get 404.',
  ),
  'unknown-task': rule(
    'fail',
    `${rules1to4} 1`,
    'Calls name the taskId of the claim; every claim makes a new one, also for work that was delivered before.',
  ),
  'claimed-while-holding': rule(
    'fail',
    `${rules1to4} 2`,
    'Claiming again with the same instanceId ends the claim that this instance still holds: one task at a time per instance.',
  ),
  'instance-shared': rule(
    'fail',
    `${rules1to4} 2`,
    'Every running copy of a runner claims with its own instanceId (for example host, process and a random part): a claim ends the claim of the same id, so copies that share one end the tasks of each other.',
  ),
  'heartbeat-missing': rule(
    'fail',
    'PUT /tasks/{taskId}/heartbeat',
    'The lease of a task is renewed by heartbeats every heartbeatIntervalSeconds, a third of its lease, also while other calls wait for their answers; when the lease ends, the work goes to another runner.',
  ),
  'lease-lost': rule(
    'fail',
    'PUT /tasks/{taskId}/heartbeat',
    'A task whose lease ends is lost, its attempt counts, and the third loss fails the run.',
  ),
  'heartbeats-too-frequent': rule(
    'warn',
    'PUT /tasks/{taskId}/heartbeat',
    'One heartbeat per heartbeatIntervalSeconds renews the lease; more of them only cost both sides.',
  ),
  'heartbeats-pile-up': rule(
    'warn',
    'PUT /tasks/{taskId}/heartbeat',
    'One heartbeat at a time: when an answer is late, abort the call instead of adding more.',
  ),
  'wrote-after-loss': rule(
    'fail',
    `${rules1to4} 1`,
    '404 task_not_found means that the task is lost: another runner may hold the work. The runner stops working on it and writes nothing more for it.',
  ),
  'calls-after-loss': rule(
    'warn',
    `${rules1to4} 1`,
    '404 task_not_found means that the task is lost: no further call for it, not even fail or release.',
  ),
  'cancel-ignored': rule(
    'fail',
    'PUT /tasks/{taskId}/heartbeat',
    'cancelRequested true means that an operator cancelled the run: stop working, write nothing more, end the task (fail or release).',
  ),
  'cancel-abandoned': rule(
    'warn',
    'PUT /tasks/{taskId}/heartbeat',
    'A cancelled task is ended by its holder (fail or release); otherwise operators wait for its lease to end.',
  ),
  'task-not-ended': rule('fail', routes, 'Every task ends with complete, fail or release.'),
  'task-failed': rule('fail', 'PUT /tasks/{taskId}/fail', 'On good input the task completes.'),
  'gave-up-early': rule(
    'warn',
    'Errors',
    '5xx answers and lost connections are temporary: repeating the call saves the attempt and its back-off.',
  ),
  'retry-after-ignored': rule(
    'warn',
    'Errors',
    'An answer with Retry-After is followed by the repeat only after so many seconds.',
  ),
  'calls-after-401': rule(
    'warn',
    'Authentication 7',
    'A revoked token stays refused: stop, and log it for the operator.',
  ),
  'went-on-after-401': rule(
    'fail',
    'Authentication 7',
    '401 on a task means stop, as a cancel does: no further work, no further writes.',
  ),

  // Ends
  'end-not-repeated': rule(
    'fail',
    'PUT /tasks/{taskId}/complete',
    'An end without an answer is sent again, the same body to the same task: for ten minutes it gets the same reply. Without the repeat the runner does not know whether its work counts.',
  ),
  'end-changed': rule(
    'fail',
    'PUT /tasks/{taskId}/complete',
    'A repeat of an end is the same end with the same body; a different one gets 409 task_finished.',
  ),
  'output-missing': rule(
    'fail',
    'PUT /tasks/{taskId}/complete',
    'Outcome completed needs an output of this run; without one the outcome is no-output or suspended. Where the runner wrote none because it rejected the inputs, name some that it can read by --input.',
  ),
  'stopped-without-release': rule(
    'fail',
    'PUT /tasks/{taskId}/release',
    'After SIGTERM a runner releases its task, or finishes it, before it ends.',
  ),
  'claimed-after-stop': rule(
    'fail',
    'PUT /tasks/{taskId}/release',
    'After SIGTERM a runner claims no further task.',
  ),
  'does-not-stop': rule(
    'fail',
    'PUT /tasks/{taskId}/release',
    'After SIGTERM a runner ends within its grace time.',
  ),

  'wrote-after-end': rule(
    'fail',
    'PUT /tasks/{taskId}/complete',
    'With an accepted complete, fail or release the task is over: write all its outputs before; later calls are refused.',
  ),
  'next-dropped': rule(
    'fail',
    'PUT /tasks/{taskId}/complete',
    'An end with next claims a task: the runner works on the one in the answer, also in the answer to a repeat, or releases it.',
  ),

  // Logs
  'log-sequence': rule(
    'fail',
    'POST /tasks/{taskId}/logs',
    'The sequence of a task rises with every call that holds new lines: lines under a sequence that is not above the last are dropped.',
  ),
  'log-doubled': rule(
    'warn',
    'POST /tasks/{taskId}/logs',
    'A call without an answer is repeated with the same sequence and the same lines: under another sequence they are stored twice.',
  ),
  'log-not-resent': rule(
    'warn',
    'POST /tasks/{taskId}/logs',
    'A call without an answer is repeated, or its lines may be lost.',
  ),
} as const;
