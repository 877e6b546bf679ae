/** The checks of a task's log lines. */
import type { Call } from './server/journal.ts';
import type { Claim } from './server/model.ts';
import type { Stage } from './stage.ts';

/** Log lines under a sequence that does not rise, and lines that were sent again under another one. */
export function judgeLog(stage: Stage, claim: Claim): void {
  const calls = stage.journal.forTask(claim.taskId).filter(({ route }) => route === 'logs');
  const kept = calls.filter(({ status }) => status === 200);
  let last: Call | undefined;
  for (const call of kept) {
    const [sequence, before] = [sequenceOf(call), last === undefined ? 0 : sequenceOf(last)];
    const isRepeat = kept.some(
      (other) =>
        other.atMs < call.atMs && sequenceOf(other) === sequence && other.bodySha256 === call.bodySha256,
    );
    if (sequence > before) last = call;
    else if (!isRepeat)
      stage.found('log-sequence', `Sequence ${sequence} came with new lines after sequence ${before}.`);
  }
  const lost = calls.find(({ fault, answeredAtMs }) => fault !== undefined && answeredAtMs === undefined);
  if (lost === undefined) return;
  const entries = entriesOf(lost);
  const doubled = calls.find(
    (call) =>
      call.atMs > lost.atMs && sequenceOf(call) !== sequenceOf(lost) && entriesOf(call).includes(entries),
  );
  if (doubled !== undefined && entries !== '')
    stage.found(
      'log-doubled',
      `The lines of sequence ${sequenceOf(lost)} got no answer and came again as sequence ${sequenceOf(doubled)}.`,
    );
}

function sequenceOf({ json }: Call): number {
  return (json as { readonly sequence?: number } | undefined)?.sequence ?? 0;
}

/** The lines of a call as text, without the brackets around them. */
function entriesOf({ json }: Call): string {
  const { entries = [] } = (json ?? {}) as { readonly entries?: readonly unknown[] };
  return JSON.stringify(entries).slice(1, -1);
}
