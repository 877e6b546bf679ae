/** Writes of a task's holder: outputs and the watermark (contract: Runner rules 3, 4). */
import { createHash } from 'node:crypto';
import type { OutputHeaders } from './forms.ts';
import type { Claim, Node, Output, Watermark } from './model.ts';
import { findInput, pendingInputs } from './reads.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';

export interface OutputBytes {
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly contentEncoding: 'gzip' | null;
  readonly isFromParts?: boolean;
}

export interface Written {
  readonly status: 200 | 201;
  readonly output: Output;
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The identifier that the caller sent, or the next one of the platform: `<runId>.<n>`. */
export function identifierFor(claim: Claim, given: string | null): string {
  if (given !== null) return given;
  claim.unnamedOutputs += 1;
  return `${claim.run.runId}.${claim.unnamedOutputs}`;
}

/**
 * Writes an output, or finds the one that has its identifier. With a watermark that moves at once, else the output is
 * staged until the watermark moves or the task completes. A refused write leaves nothing behind.
 */
export function writeOutput(
  world: World,
  claim: Claim,
  headers: Omit<OutputHeaders, 'identifier'> & { readonly identifier: string },
  stored: OutputBytes,
): Written {
  const { run } = claim;
  const { node } = run;
  const step = headers.watermarkInputId === undefined ? undefined : judged(claim, headers.watermarkInputId);
  const existing = node.outputs.get(headers.identifier);
  const output = existing ?? {
    outputId: world.nextId(),
    outputIdentifier: headers.identifier,
    runId: run.runId,
    contentType: headers.contentType,
    contentEncoding: stored.contentEncoding,
    sizeBytes: stored.sizeBytes,
    sha256: stored.sha256,
    isFromParts: stored.isFromParts ?? false,
    metadata: headers.metadata,
    createdAt: new Date().toISOString(),
    publishedAs: null,
  };
  node.outputs.set(headers.identifier, output);
  run.wroteOutput = true;
  if (step !== undefined) advance(claim, step);
  world.changed();
  return { status: existing === undefined ? 201 : 200, output };
}

function publish(node: Node, output: Output): void {
  output.publishedAs ??= 1 + Math.max(0, ...[...node.outputs.values()].map((each) => each.publishedAs ?? 0));
}

/**
 * Consumed inputs and published outputs move together. Repeating the present watermark publishes the outputs staged
 * since.
 */
function advance(claim: Claim, step: Watermark): void {
  publishStaged(claim);
  claim.run.node.watermark = step;
  claim.run.unnamedFrom = claim.unnamedOutputs;
}

/** Publishes what the run has staged, in the order of writing. */
export function publishStaged(claim: Claim): void {
  const { node, runId } = claim.run;
  const staged = [...node.outputs.values()].filter(
    (output) => output.runId === runId && output.publishedAs === null,
  );
  for (const output of staged) publish(node, output);
}

/** The new watermark for this id; it only moves forward, and only to an input of the task. */
function judged(claim: Claim, inputId: number): Watermark {
  const input = findInput(claim, inputId);
  if (input === undefined) throw new Refusal('watermarkUnknownInput');
  if (input.position < claim.run.node.watermark.position) throw new Refusal('watermarkRegression');
  return { position: input.position, outputId: input.outputId };
}

/** Moves the watermark to an input. @throws Refusal when it may not move there */
export function consume(claim: Claim, inputId: number): void {
  advance(claim, judged(claim, inputId));
}

export function moveWatermark(
  world: World,
  claim: Claim,
  inputId: number,
  state: Record<string, unknown> | null | undefined,
): Record<string, unknown> {
  const { node } = claim.run;
  consume(claim, inputId);
  node.state = state ?? node.state;
  world.changed();
  return { watermark: inputId, pendingInputs: pendingInputs(claim) };
}

export function presentOutput(output: Output): Record<string, unknown> {
  const { outputId, outputIdentifier, sizeBytes, createdAt } = output;
  return {
    outputId,
    outputIdentifier,
    sizeBytes,
    sha256: output.isFromParts ? null : output.sha256,
    createdAt,
  };
}
