/** Possible faults of a runner by stable names, each with the rule of the contract that it breaks. */
import { type Level, type Rule, routes, rule, rules1to4 } from './rule.ts';
import { taskRules } from './task-rules.ts';

export const rules = {
  // The loop
  'never-claimed': rule('fail', routes, 'A runner asks for work with POST /tasks/claim, again and again.'),
  'runner-ended': rule(
    'fail',
    routes,
    'A runner continues to claim after every end or loss of a task; only a stop or a refused token ends it.',
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

  ...taskRules,

  // Outputs
  'output-too-large': rule(
    'fail',
    'POST /tasks/{taskId}/outputs',
    'One request holds an output of up to limits.maxOutputBytes of whoami (16 MB). Send a larger one in parts: POST /tasks/{taskId}/outputs/uploads.',
  ),
  'body-too-large': rule(
    'fail',
    'Limits',
    'A JSON body holds up to 1 MB, a call of log lines up to 256 KB, a part up to limits.upload.maxPartBytes of whoami. Send less at a time.',
  ),
  'identifier-missing': rule(
    'warn',
    `${rules1to4} 3`,
    'X-Platform-Output-Identifier names an output, so that a repeat finds it instead of writing a second one.',
  ),
  'identifier-changed': rule(
    'fail',
    `${rules1to4} 3`,
    'An output is sent again under the identifier that it had: the same identifier returns the existing output with 200, another one doubles it.',
  ),
  'output-not-resent': rule(
    'fail',
    `${rules1to4} 3`,
    'An output write without an answer is sent again with the same identifier; otherwise the runner does not know whether it is stored.',
  ),
  'output-doubled': rule(
    'fail',
    `${rules1to4} 3`,
    'The same work delivered again writes the same identifiers: outputs of a lost attempt are kept, and other identifiers would add more outputs.',
  ),
  'resend-differs': rule(
    'warn',
    `${rules1to4} 3`,
    'Only the first bytes sent under an identifier count; a resend with other bytes is answered as if it were the same.',
  ),
  'output-differs': rule('fail', routes, 'The same input gives the same output, with faults and without.'),
  'upload-not-recovered': rule(
    'fail',
    'POST /tasks/{taskId}/outputs/uploads',
    'A part or a complete without an answer is sent again: a part replaces itself, a repeated complete returns the output.',
  ),

  // Inputs
  'cursor-not-followed': rule(
    'fail',
    'GET /tasks/{taskId}/inputs',
    'A page whose nextCursor is not null is followed by the next page: its inputs belong to the task too.',
  ),
  'truncated-input-used': rule(
    'fail',
    'GET /tasks/{taskId}/inputs/{outputId}/data',
    'Input bytes that end before Content-Length are not the input: read again, or fail the task.',
  ),
  'gzip-not-decoded': rule(
    'fail',
    'GET /tasks/{taskId}/inputs/{outputId}/data',
    'A runner that sends Accept-Encoding: gzip decodes answers with Content-Encoding: gzip.',
  ),
  'token-sent-to-store': rule(
    'fail',
    'GET /tasks/{taskId}/inputs/{outputId}/data',
    'The token is for the platform alone. The address of a 307 opens the bytes without it: call it without Authorization.',
  ),
  'store-not-survived': rule(
    'fail',
    'GET /tasks/{taskId}/inputs/{outputId}/data',
    'A store may be out of reach. An input that does not come from there whole, or with another size than x-platform-size-bytes, is read without redirect=true.',
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
    'hasMore without a step of the watermark makes no follow-up: the inputs after it stay unread.',
  ),
  'failed-after-watermark': rule(
    'fail',
    `${rules1to4} 4`,
    'An input that the watermark has passed is not handed out again, and only outputs written before are published with it: write all outputs of an input, then move the watermark.',
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
