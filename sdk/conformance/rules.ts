/** Possible faults of a runner by stable names, each with the rule of the contract that it breaks. */

export type Level = 'fail' | 'warn';

interface Rule {
  readonly level: Level;
  /** The rule, in words that need no other document. */
  readonly says: string;
  /** Its source: the part of the interface document. */
  readonly from: string;
}

const rule = (level: Level, from: string, says: string) => ({ level, from, says }) as const satisfies Rule;
const routes = 'Runner routes';
const rules1to4 = 'Runner rules';

export const rules = {
  // The loop
  'never-claimed': rule('fail', routes, 'A runner asks for work with POST /tasks/claim, again and again.'),
  'runner-ended': rule(
    'fail',
    routes,
    'A runner goes on claiming after whatever happened to a task; only a stop or a refused token ends it.',
  ),
  'stopped-claiming': rule(
    'fail',
    routes,
    'After a task has ended or was lost, the runner claims the next one.',
  ),
  'busy-polling': rule(
    'warn',
    routes,
    'Claim with waitSeconds (up to 60): the platform answers within 100 ms of a task being ready.',
  ),
  hammering: rule(
    'fail',
    routes,
    'Calls that were refused or got no answer are repeated after a pause that grows.',
  ),
  'token-missing': rule(
    'fail',
    'Authentication 1',
    'Every call carries Authorization: Bearer with the runner token.',
  ),
  'unknown-route': rule('fail', routes, 'Only the documented routes exist, below /api/v2/runner.'),
  'invalid-request': rule(
    'fail',
    routes,
    'Bodies, parameters and headers have the documented form; the answer says what is wrong with this one.',
  ),
  'template-not-claimable': rule(
    'fail',
    routes,
    'templates of a claim names node templates that are registered and that the token covers; leave it out for all of them.',
  ),

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
    'Claiming again with the same instanceId gives up the task that instance still holds: one task at a time per instance.',
  ),
  'heartbeat-missing': rule(
    'fail',
    'PUT /tasks/{taskId}/heartbeat',
    'A task is kept by heartbeats every heartbeatIntervalSeconds, a third of its lease, also while other calls wait for their answers; when the lease ends, the work goes to another runner.',
  ),
  'lease-lost': rule(
    'fail',
    'PUT /tasks/{taskId}/heartbeat',
    'A task whose lease ends is lost, its attempt counts, and the third loss fails the run.',
  ),
  'heartbeats-too-frequent': rule(
    'warn',
    'PUT /tasks/{taskId}/heartbeat',
    'One heartbeat per heartbeatIntervalSeconds keeps the task; many more only cost both sides.',
  ),
  'heartbeats-pile-up': rule(
    'warn',
    'PUT /tasks/{taskId}/heartbeat',
    'One heartbeat at a time: when an answer is late, give it up instead of adding more.',
  ),
  'wrote-after-loss': rule(
    'fail',
    `${rules1to4} 1`,
    '404 task_not_found means that the task is lost: somebody else may hold the work. The runner stops working on it and writes nothing more for it.',
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
    '5xx answers and lost connections pass: repeating the call saves the attempt and its back-off.',
  ),
  'retry-after-ignored': rule(
    'warn',
    'Errors',
    'An answer with Retry-After is followed by the repeat only after so many seconds.',
  ),
  'calls-after-401': rule(
    'warn',
    'Authentication 7',
    'A revoked token stays refused: stop, and tell the operator.',
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
    'Outcome completed needs an output of this run; without one the outcome is no-output or suspended.',
  ),
  'stopped-without-release': rule(
    'fail',
    'PUT /tasks/{taskId}/release',
    'A runner that is told to stop gives its task back with release, or finishes it, before it ends.',
  ),
  'claimed-after-stop': rule(
    'fail',
    'PUT /tasks/{taskId}/release',
    'A runner that is told to stop claims nothing more.',
  ),
  'does-not-stop': rule(
    'fail',
    'PUT /tasks/{taskId}/release',
    'A runner that is told to stop ends within its grace time.',
  ),

  // Outputs
  'identifier-missing': rule(
    'warn',
    `${rules1to4} 3`,
    'X-Platform-Output-Identifier names an output, so that sending it again finds it instead of writing a second one.',
  ),
  'identifier-changed': rule(
    'fail',
    `${rules1to4} 3`,
    'An output is sent again under the identifier that it had: the same identifier returns the existing output with 200, another one doubles it.',
  ),
  'output-not-resent': rule(
    'fail',
    `${rules1to4} 3`,
    'An output write without an answer is sent again with the same identifier; nobody knows otherwise whether it is stored.',
  ),
  'output-doubled': rule(
    'fail',
    `${rules1to4} 3`,
    'The same work delivered again writes the same identifiers: outputs of a lost attempt are kept, and others would stand beside them.',
  ),
  'resend-differs': rule(
    'warn',
    `${rules1to4} 3`,
    'Only the first bytes sent under an identifier count; a resend with other bytes is answered as if it were the same.',
  ),
  'output-differs': rule(
    'fail',
    routes,
    'Whatever the calls went through, the same input gives the same output.',
  ),
  'upload-not-recovered': rule(
    'fail',
    'POST /tasks/{taskId}/outputs/uploads',
    'A part or a complete without an answer is sent again: a part replaces itself, a repeated complete returns the output.',
  ),

  // Inputs
  'cursor-not-followed': rule(
    'fail',
    'GET /tasks/{taskId}/inputs',
    'A page whose nextCursor is not null is followed by the next: the inputs behind it belong to the task.',
  ),
  'truncated-input-used': rule(
    'fail',
    'GET /tasks/{taskId}/inputs/{outputId}/data',
    'Input bytes that end before Content-Length are not the input: read again, or fail the task.',
  ),
  'gzip-not-decoded': rule(
    'fail',
    'GET /tasks/{taskId}/inputs/{outputId}/data',
    'Who sends Accept-Encoding: gzip decodes what comes with Content-Encoding: gzip.',
  ),

  // Incremental work
  'watermark-moved-back': rule(
    'fail',
    `${rules1to4} 4`,
    'The watermark only moves forward: a lower position is 409 watermark_regression.',
  ),
  'watermark-unknown-input': rule(
    'fail',
    `${rules1to4} 4`,
    'The watermark is the id of an input of the task, and nothing else.',
  ),
  'watermark-not-moved': rule(
    'fail',
    `${rules1to4} 4`,
    'hasMore without a step of the watermark makes no follow-up: the inputs behind it stay unread.',
  ),
  'failed-after-watermark': rule(
    'fail',
    `${rules1to4} 4`,
    'What the watermark has passed is not handed out again, and only what was written before is published with it: write all that belongs to an input, then move the watermark.',
  ),
  'has-more-missing': rule(
    'fail',
    `${rules1to4} 4`,
    'A task that stops at the cap completes with hasMore true, so that the platform schedules a follow-up for the rest.',
  ),
  'repeats-refused-call': rule(
    'fail',
    'Errors',
    'A call that was refused with 4xx is refused again: end the task instead of repeating it.',
  ),
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

/** Something that a runner did in one scenario. */
export interface Finding {
  readonly rule: RuleName;
  readonly level: Level;
  /** What was seen, as a sentence. */
  readonly saw: string;
}
