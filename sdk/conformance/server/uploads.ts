/** Outputs in parts: start, parts in any order and again, complete, abort (contract: Runner routes). */
import { randomUUID } from 'node:crypto';
import type { OutputHeaders } from './forms.ts';
import { limits } from './limits.ts';
import type { Claim, Output, Upload } from './model.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';
import { digestOf, identifierFor, type OutputBytes, type Written, writeOutput } from './writes.ts';

/** The limit for one task's parts, which are held in memory. */
const keptBytes = 512 * 1024 * 1024;
const uploadDays = 7;

export type Started =
  | { readonly kind: 'started'; readonly body: Record<string, unknown> }
  | { readonly kind: 'existing'; readonly output: Output };

/**
 * Starts an upload; an identifier that the node already has finds its output instead, and the watermark moves at once.
 */
export function startUpload(
  world: World,
  claim: Claim,
  headers: OutputHeaders,
  contentEncoding: 'gzip' | null,
): Started {
  const { identifier } = headers;
  const existing = identifier === null ? undefined : claim.run.node.outputs.get(identifier);
  if (identifier !== null && existing !== undefined)
    return {
      kind: 'existing',
      output: writeOutput(world, claim, { ...headers, identifier }, existing).output,
    };
  const { metadata, contentType, watermarkInputId } = headers;
  const upload: Upload = {
    handle: randomUUID(),
    identifier,
    contentType,
    contentEncoding,
    metadata,
    watermarkInputId,
    parts: new Map(),
    output: undefined,
  };
  claim.uploads.set(upload.handle, upload);
  return {
    kind: 'started',
    body: {
      handle: upload.handle,
      minPartBytes: world.limits.partMinBytes,
      maxPartBytes: world.limits.partMaxBytes,
      maxParts: limits.parts,
      expiresAt: new Date(Date.now() + uploadDays * 86_400_000).toISOString(),
    },
  };
}

/** An upload that accepts parts. */
function openUpload(claim: Claim, handle: string): Upload {
  const upload = claim.uploads.get(handle);
  if (upload === undefined || upload.output !== undefined) throw new Refusal('uploadNotFound');
  return upload;
}

/** The number of a part: out of range it is an invalid request, no integer means an unknown part. */
export function partNumber(text: string): number {
  if (!/^(0|-?[1-9]\d*)$/.test(text)) throw new Refusal('uploadNotFound');
  const part = Number(text);
  if (part >= 1 && part <= limits.parts) return part;
  throw new Refusal('invalidRequest', { message: `Part numbers range from 1 to ${limits.parts}.` });
}

/** Stores a part; sent again it replaces itself. */
export function putPart(claim: Claim, handle: string, part: number, bytes: Buffer): Record<string, unknown> {
  const upload = openUpload(claim, handle);
  const others = [...upload.parts].filter(([number]) => number !== part);
  const sizeBytes = others.reduce((sum, [, kept]) => sum + kept.length, bytes.length);
  if (sizeBytes > keptBytes)
    throw new Refusal('bodyTooLarge', { message: 'The conformance kit keeps uploads of up to 512 MB.' });
  upload.parts.set(part, bytes);
  return { part, sizeBytes: bytes.length, sha256: digestOf(bytes) };
}

/**
 * Joins the parts to an output; completed again it is the same output, 200.
 * @param lastInputId replaces the watermark of the start
 */
export function completeUpload(
  world: World,
  claim: Claim,
  handle: string,
  lastInputId: number | undefined,
): Written {
  const upload = claim.uploads.get(handle);
  if (upload === undefined) throw new Refusal('uploadNotFound');
  if (upload.output !== undefined) {
    const { output } = upload;
    const { outputIdentifier: identifier } = output;
    return writeOutput(world, claim, { ...upload, identifier, watermarkInputId: lastInputId }, output);
  }
  const existing = upload.identifier === null ? undefined : claim.run.node.outputs.get(upload.identifier);
  const stored = existing ?? joined(world, upload);
  const watermarkInputId = lastInputId ?? upload.watermarkInputId;
  const identifier = identifierFor(claim, upload.identifier);
  const written = writeOutput(world, claim, { ...upload, identifier, watermarkInputId }, stored);
  upload.output = written.output;
  upload.parts.clear();
  return written;
}

function joined(world: World, { parts: sent, contentEncoding }: Upload): OutputBytes {
  const parts = [...sent].sort(([a], [b]) => a - b);
  if (parts.length === 0 || parts.some(([number], at) => number !== at + 1))
    throw new Refusal('uploadIncomplete');
  if (parts.slice(0, -1).some(([, bytes]) => bytes.length < world.limits.partMinBytes))
    throw new Refusal('partTooSmall');
  const bytes = Buffer.concat(parts.map(([, part]) => part));
  return { sizeBytes: bytes.length, sha256: digestOf(bytes), contentEncoding, isFromParts: true };
}

export function abortUpload(claim: Claim, handle: string): void {
  openUpload(claim, handle);
  claim.uploads.delete(handle);
}
