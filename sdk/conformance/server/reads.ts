/** Reads of a task's holder: its claim, inputs, bytes, state (contract: Runner routes). */
import { gunzipSync } from 'node:zlib';
import type { z } from 'zod';
import { cursorAt, type Headers, type inputsForm } from './forms.ts';
import { heartbeatIntervalSeconds, limits } from './limits.ts';
import type { Claim, Input, Node, Output, Template } from './model.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';

export function whoami(world: World, label: string): Record<string, unknown> {
  const { limits: own } = world;
  return {
    kind: 'runner',
    tokenId: '00000000-0000-7000-8000-00000000c0de',
    label,
    runnerTypes: ['under-test'],
    scopes: ['tasks'],
    expiresAt: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    templates: [...world.templates.values()].map(({ name }: Template) => ({
      name,
      runnerType: 'under-test',
      type: 'Processing',
    })),
    limits: {
      maxOutputBytes: own.outputBytes,
      maxOutputMetadataBytes: limits.outputMetadataBytes,
      maxOutputIdentifierLength: limits.outputIdentifierCharacters,
      maxWaitSeconds: limits.claimWaitMaxSeconds,
      leaseSeconds: own.leaseSeconds,
      heartbeatIntervalSeconds: heartbeatIntervalSeconds(own.leaseSeconds),
      upload: { minPartBytes: own.partMinBytes, maxPartBytes: own.partMaxBytes, maxParts: limits.parts },
      incremental: { maxInputsPerTask: own.inputsPerTask },
    },
  };
}

/** The body of a claim that got a task. */
export function presentClaim(world: World, claim: Claim): Record<string, unknown> {
  const { run } = claim;
  const { node } = run;
  return {
    taskId: claim.taskId,
    runId: run.runId,
    attempt: claim.attempt,
    maxAttempts: node.template.maxAttempts,
    reason: claim.attempt > 1 ? 'retry' : run.reason,
    projectId: 1,
    sessionId: node.sessionId,
    sessionName: 'Conformance',
    nodeInstanceId: node.nodeInstanceId,
    nodeName: node.name,
    nodeTemplate: node.template.name,
    runnerType: 'under-test',
    configuration: node.configuration,
    parents: [{ nodeInstanceId: node.parentId, name: node.parentName }],
    claimedAt: new Date().toISOString(),
    leaseExpiresAt: leaseExpiresAt(claim),
    heartbeatIntervalSeconds: heartbeatIntervalSeconds(node.template.leaseSeconds),
    incremental: incrementalOf(world, claim),
    traceparent: traceparentOf(claim),
  };
}

/** The run's own trace, with the claim's span, sampled. */
function traceparentOf({ run, taskId }: Claim): string {
  return `00-${run.runId.replaceAll('-', '')}-${taskId.replaceAll('-', '').slice(0, 16)}-01`;
}

export function leaseExpiresAt(claim: Claim): string {
  return new Date(Date.now() + claim.leaseUntilMs - performance.now()).toISOString();
}

/** The inputs of the task, all of them, oldest first. */
function inputsOf(claim: Claim): readonly Input[] {
  const upper = claim.run.upperPosition ?? 0;
  return claim.run.node.inputs.filter(({ position }) => position <= upper);
}

export function pendingInputs(claim: Claim): number {
  const { position } = claim.run.node.watermark;
  return inputsOf(claim).filter((input) => input.position > position).length;
}

function incrementalOf(world: World, claim: Claim) {
  return {
    watermark: claim.run.node.watermark.outputId,
    pendingInputs: pendingInputs(claim),
    maxInputsPerTask: world.limits.inputsPerTask,
  };
}

/** A page of the task's inputs in one of the three modes. */
export function listInputs(
  world: World,
  claim: Claim,
  query: z.output<typeof inputsForm>,
): Record<string, unknown> {
  const asked = query.limit ?? limits.inputsPageDefault;
  const pageSize = Math.min(asked, world.limits.inputsPage ?? asked);
  const all = inputsOfMode(world, claim, query.mode);
  const found = all.filter(({ position }) => position > (query.cursor ?? 0));
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  return {
    mode: query.mode,
    inputs: page.map((input) => presentInput(claim.run.node, input)),
    nextCursor: last !== undefined && found.length > page.length ? cursorAt(last.position) : null,
    incremental: incrementalOf(world, claim),
  };
}

function inputsOfMode(world: World, claim: Claim, mode: 'since-watermark' | 'latest' | 'all') {
  const all = inputsOf(claim);
  if (mode === 'latest') {
    const group = all.at(-1)?.group;
    return all.filter((input) => input.group === group);
  }
  if (mode === 'all') return all;
  const fresh = all.filter(({ position }) => position > claim.watermarkPosition);
  return fresh.slice(0, world.limits.inputsPerTask);
}

function presentInput(node: Node, input: Input): Record<string, unknown> {
  return {
    outputId: input.outputId,
    nodeInstanceId: node.parentId,
    nodeName: node.parentName,
    outputIdentifier: input.outputIdentifier,
    contentType: input.contentType,
    contentEncoding: input.contentEncoding,
    sizeBytes: input.bytes.length,
    sha256: input.sha256,
    metadata: input.metadata,
    createdAt: input.createdAt,
  };
}

export function findInput(claim: Claim, outputId: number | undefined): Input | undefined {
  return inputsOf(claim).find((input) => input.outputId === outputId);
}

export function readState(world: World, claim: Claim): Record<string, unknown> {
  const { node } = claim.run;
  const newest = [...node.outputs.values()]
    .filter(({ publishedAs }) => publishedAs !== null)
    .sort((a, b) => (a.publishedAs ?? 0) - (b.publishedAs ?? 0))
    .at(-1);
  return {
    previousOutput: newest === undefined ? null : presentOwn(node, newest),
    state: node.state,
    incremental: incrementalOf(world, claim),
  };
}

function presentOwn(node: Node, output: Output): Record<string, unknown> {
  const { outputId, outputIdentifier, contentType, contentEncoding, sizeBytes, metadata, createdAt } = output;
  const sha256 = output.isFromParts ? null : output.sha256;
  const { nodeInstanceId, name: nodeName } = node;
  const described = { outputId, nodeInstanceId, nodeName, outputIdentifier, contentType, contentEncoding };
  return { ...described, sizeBytes, sha256, metadata, createdAt };
}

export interface Bytes {
  readonly status: 200 | 206 | 304;
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
}

/** The bytes of an input, or their address at the store: it sends them as they are stored. */
export function sendInput(
  input: Input,
  headers: Headers,
  location: string | undefined,
): Bytes | { readonly status: 307; readonly headers: Record<string, string> } {
  const reply = serveInput(input, headers);
  const { etag = '' } = reply.headers;
  if (location === undefined || reply.status === 304 || etag.startsWith('W/')) return reply;
  const sizeBytes = String(input.bytes.length);
  return {
    status: 307,
    headers: { location, etag, 'x-platform-size-bytes': sizeBytes, 'cache-control': 'no-store' },
  };
}

/** The bytes of an input: stored gzip unchanged to callers that accept it, else decoded; one range of stored bytes. */
export function serveInput(input: Input, headers: Headers): Bytes {
  const isPacked = input.contentEncoding === 'gzip';
  const isDecoded = isPacked && !acceptsGzip(headers['accept-encoding']);
  const etag = `${isDecoded ? 'W/' : ''}"${input.sha256}"`;
  const common: Record<string, string> = {
    'content-type': input.contentType ?? 'application/octet-stream',
    etag,
    ...(isPacked ? { vary: 'Accept-Encoding' } : {}),
    ...(isPacked && !isDecoded ? { 'content-encoding': 'gzip' } : {}),
  };
  if (headers['if-none-match'] === etag) return { status: 304, headers: common, bytes: Buffer.alloc(0) };
  // As on the platform, without a length: it is decoded on the way.
  if (isDecoded) return { status: 200, headers: common, bytes: gunzipSync(input.bytes) };
  common['accept-ranges'] = 'bytes';
  const range = rangeOf(headers, input.bytes.length, etag);
  const bytes = range === null ? input.bytes : input.bytes.subarray(range.start, range.end + 1);
  common['content-length'] = String(bytes.length);
  if (range === null) return { status: 200, headers: common, bytes };
  const contentRange = `bytes ${range.start}-${range.end}/${input.bytes.length}`;
  return { status: 206, headers: { ...common, 'content-range': contentRange }, bytes };
}

/** The one range asked for; null for all bytes, which is also the answer to several ranges or a malformed one. */
function rangeOf(headers: Headers, sizeBytes: number, etag: string) {
  const condition = headers['if-range']?.trim();
  const bounds = /^bytes=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(headers.range ?? '');
  const [, first = '', last = ''] = bounds ?? [];
  if (bounds === null || (first === '' && last === '')) return null;
  if (condition !== undefined && condition !== etag) return null;
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (first !== '' && last !== '' && Number(first) > Number(last)) return null;
  if (start <= end) return { start, end };
  throw new Refusal('rangeNotSatisfiable', { headers: { 'content-range': `bytes */${sizeBytes}` } });
}

function acceptsGzip(header: string | undefined): boolean {
  let any = false;
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [coding, ...parameters] = part.split(';').map((text) => text.trim());
    const isWanted = !parameters.some((text) => /^q=0(\.0*)?$/.test(text));
    if (coding === 'gzip' || coding === 'x-gzip') return isWanted;
    if (coding === '*') any = isWanted;
  }
  return any;
}
