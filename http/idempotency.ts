/**
 * `Idempotency-Key`: a request with a key runs once, and its repeats get the same answer
 * (domain/access/idempotency.ts).
 *
 * Refusals and failures are not saved: a repeat runs again, unless the first created something. Saved replies are
 * encrypted: the database and the server's key do not suffice to read them without the caller's key.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import {
  type KeyHold,
  type KeyLedger,
  type KeyState,
  parseIdempotencyKey,
} from '../domain/access/idempotency.ts';
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { readSentDigests } from '../domain/outputs/output-headers.ts';
import type { Reply, UploadBody } from './route.ts';

/** One request with a key. */
export interface KeyedCall {
  readonly routeId: string;
  /** Kind and id of the caller. */
  readonly caller: string;
  /** The header as sent. */
  readonly header: string;
  readonly isSecret: boolean;
  readonly params: unknown;
  /** As sent, without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed JSON body; undefined for none. */
  readonly json: unknown;
  /** The body of a route that takes a stream. */
  readonly upload: UploadBody | null;
}

export interface KeyKeeper {
  readonly ledger: KeyLedger;
  /** 32 bytes that only this service can derive from a text. */
  readonly keyFrom: (text: string) => Uint8Array;
}

/** The headers that are part of a request's identity; checksums are compared with the body. */
const keptHeaders = [
  'content-type',
  'content-encoding',
  'x-platform-output-identifier',
  'x-platform-output-metadata',
];
/** The same, of resumable uploads and outputs of runners; absent ones leave the digests of other requests as they are. */
const keptOfSome = ['upload-length', 'upload-metadata', 'x-platform-watermark'];
const busy = () => new Problem('idempotencyKeyBusy', { headers: { 'retry-after': '1' } });

/**
 * Answers a request with a key: by `run`, or with the saved answer of the same request.
 * @throws Problem `invalidIdempotencyKey`, `idempotencyKeyReused` for another request under the key,
 *   `idempotencyKeyBusy` while one is in progress, `idempotencyKeySpent` when the reply showed a secret; errors of
 *   `run`
 */
export async function answerOnce(
  { ledger, keyFrom }: KeyKeeper,
  call: KeyedCall,
  run: () => Promise<Reply>,
): Promise<Reply> {
  const key = parseIdempotencyKey(call.header);
  if (key === null) throw new Problem('invalidIdempotencyKey');
  const seal = new Seal(keyFrom(`${call.caller}\0${key}`));
  const hold = newHold(call, key, seal, keyFrom);
  const state = await ledger.acquire(hold);
  if (state === undefined) throw busy();
  if (!state.isHeld && !state.isSameRequest) throw new Problem('idempotencyKeyReused');
  if (call.isSecret && state.isMade) throw new Problem('idempotencyKeySpent');
  if (state.reply !== null) {
    await requireSameBody(call, state);
    return JSON.parse(seal.open(state.reply).toString()) as Reply;
  }
  if (!state.isHeld) throw busy();
  hold.body = bodyOf(state);
  if (state.isMade) hold.made = { result: state.result && deserialize(seal.open(state.result)) };
  return await answerHeld(ledger, hold, seal, run);
}

async function answerHeld(
  ledger: KeyLedger,
  hold: KeyHold,
  seal: Seal,
  run: () => Promise<Reply>,
): Promise<Reply> {
  try {
    const reply = await ledger.within(hold, run);
    const { status, headers, body } = reply;
    const kept = hold.isSecret ? null : seal.close(Buffer.from(JSON.stringify({ status, headers, body })));
    if (kept === null || kept.length > limits.idempotencyReplyBytes) await ledger.release(hold);
    else await ledger.keep(hold, kept);
    return reply;
  } catch (error) {
    await ledger.release(hold);
    throw error;
  }
}

function newHold(call: KeyedCall, key: string, seal: Seal, keyFrom: KeyKeeper['keyFrom']): KeyHold {
  const { routeId, params, query, headers, json } = call;
  const comparedHeaders = [
    ...keptHeaders.map((name) => headers[name] ?? null),
    ...keptOfSome.flatMap((name) => headers[name] ?? []),
  ];
  return {
    caller: call.caller,
    keyDigest: createHash('sha256').update(key).digest(),
    // Keyed with the server's key: the body may contain a password.
    requestDigest: keyFrom(JSON.stringify([routeId, params, query, comparedHeaders, json ?? null])),
    holder: randomUUID(),
    isSecret: call.isSecret,
    body: null,
    made: null,
    sealResult: (result) => seal.close(serialize(result)),
  };
}

function bodyOf({ bodySha256, bodyBytes }: KeyState): KeyHold['body'] {
  return bodySha256 === null ? null : { sha256: bodySha256, sizeBytes: bodyBytes ?? 0 };
}

/** Checksums in the headers are enough if sent; else the whole body is read, up to the first request's length. */
async function requireSameBody({ upload, headers }: KeyedCall, state: KeyState): Promise<void> {
  const body = bodyOf(state);
  if (upload === null || body === null) return;
  const { declaredBytes } = upload;
  if (declaredBytes !== null && declaredBytes !== body.sizeBytes) throw new Problem('idempotencyKeyReused');
  const sent = readSentDigests(headers).sha256 ?? (await digestOf(upload, body.sizeBytes));
  if (sent !== body.sha256) throw new Problem('idempotencyKeyReused');
}

/** Null for a longer body. */
async function digestOf(upload: UploadBody, maxBytes: number): Promise<string | null> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const stream = upload.open();
  try {
    // Leaving the loop must not end the connection, which still carries the answer.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      sizeBytes += (chunk as Buffer).length;
      if (sizeBytes > maxBytes) return null;
      hash.update(chunk as Buffer);
    }
  } catch (cause) {
    throw cause instanceof Problem ? cause : new Problem('malformedRequest', { cause });
  }
  return hash.digest('hex');
}

const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM: nonce, tag and ciphertext. */
class Seal {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  close(bytes: Uint8Array): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes });
    const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
  }

  open(sealed: Uint8Array): Buffer {
    const iv = sealed.subarray(0, ivBytes);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes });
    decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
    return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]);
  }
}
