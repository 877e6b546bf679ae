/** Log lines and rejected inputs of a task (contract: Runner routes). */
import type { z } from 'zod';
import type { logsForm, rejectionForm } from './forms.ts';
import { limits } from './limits.ts';
import type { Claim, Rejection } from './model.ts';
import { findInput, pendingInputs } from './reads.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';
import { consume } from './writes.ts';

/** What an entry counts beside its message and fields. */
const entryBytes = 40;

/** Keeps lines once: a sequence that is not above the last changes nothing. */
export function keepLog(claim: Claim, { sequence, entries }: z.output<typeof logsForm>) {
  const bytes = entries.reduce((sum, { message, fields }) => {
    const fieldsBytes = fields == null ? 0 : Buffer.byteLength(JSON.stringify(fields));
    return sum + entryBytes + Buffer.byteLength(message) + fieldsBytes;
  }, 0);
  if (bytes > limits.logCallBytes) throw new Refusal('bodyTooLarge');
  const last = claim.log.at(-1)?.sequence ?? 0;
  if (sequence > last) {
    claim.log.push({ sequence, entries });
    claim.logBytes += bytes;
  }
  return {
    nextSequence: Math.max(last, sequence) + 1,
    truncated: claim.logBytes > limits.logAttemptBytes,
  };
}

/**
 * Rejects an input. In an incremental node the watermark moves there at once; in others it counts when the task
 * completes. The first rejection of an input by a run stays.
 */
export function rejectInput(
  world: World,
  claim: Claim,
  inputId: number | undefined,
  form: z.output<typeof rejectionForm>,
) {
  const { node, runId } = claim.run;
  const input = findInput(claim, inputId);
  if (input === undefined) throw new Refusal('watermarkUnknownInput');
  const rejection = { inputId: input.outputId, runId, ...form };
  if (node.template.incremental) rejectAndMove(claim, input.position, rejection);
  else if (!claim.rejections.has(input.outputId)) claim.rejections.set(input.outputId, rejection);
  world.changed();
  return { inputId: input.outputId, watermark: node.watermark.outputId, pendingInputs: pendingInputs(claim) };
}

function rejectAndMove(claim: Claim, position: number, rejection: Rejection): void {
  const { node } = claim.run;
  const isRepeat = node.rejected.some(
    ({ inputId, runId }) => inputId === rejection.inputId && runId === rejection.runId,
  );
  if (isRepeat && node.watermark.position !== position) return;
  // The input is consumed already, and its result may be published.
  if (!isRepeat && node.watermark.position === position) throw new Refusal('watermarkRegression');
  consume(claim, rejection.inputId);
  if (!isRepeat) node.rejected.push(rejection);
}
