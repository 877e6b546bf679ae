/**
 * Idempotency keys (draft-ietf-httpapi-idempotency-key-header): the header's syntax, and the statements of a
 * table of keys. The platform and the authentication service have such a table each.
 *
 * A key is acquired before the work, with a lease that its process renews. The transaction that makes something marks
 * the key as made, with its own result: both are committed or neither is. The reply is saved after it. A process that
 * dies before the commit leaves a key whose lease ends; one that dies after it leaves the result, from which a repeat
 * makes a new reply without making anything.
 */
import { limits } from '../limits.ts';

const visible = new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyCharacters}}$`);
const quoted = /^"((?:[^"\\]|\\["\\])*)"$/;

/** The key in a header's value: a Structured Fields string, or the bare text. Null when it is neither. */
export function parseIdempotencyKey(value: string): string | null {
  const text = value.trim();
  const inside = quoted.exec(text)?.[1];
  if (inside === undefined && text.includes('"')) return null;
  const key = inside === undefined ? text : inside.replace(/\\(["\\])/g, '$1');
  return visible.test(key) ? key : null;
}

/** A streamed body, known when all of it has come. */
interface KeyedBody {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A key that a request holds or requests. */
export interface KeyHold {
  /** The key's owner: keys of different callers are independent. */
  readonly caller: string;
  readonly keyDigest: Uint8Array;
  /** The digest of the whole request except a streamed body. */
  readonly requestDigest: Uint8Array;
  /** UUID of this request's hold: after another request has acquired the key, this hold writes nothing. */
  readonly holder: string;
  /** The reply shows a secret once: nothing of it is saved. */
  readonly isSecret: boolean;
  body: KeyedBody | null;
  /** The result of the transaction that made something, when an earlier request's reply was lost. */
  made: { readonly result: unknown } | null;
  /** Readable only with the caller's key and the server's. */
  sealResult(result: unknown): Uint8Array;
}

/** A key as stored, for a request with it. */
export interface KeyState {
  /** The key is this request's from now on; else another one holds it, or it has its reply. */
  readonly isHeld: boolean;
  readonly isSameRequest: boolean;
  readonly isMade: boolean;
  readonly result: Uint8Array | null;
  readonly reply: Uint8Array | null;
  readonly bodySha256: string | null;
  readonly bodyBytes: number | null;
}

/** The store of one service's keys. */
export interface KeyLedger {
  /** Undefined while another transaction is at work on the key. */
  acquire(hold: KeyHold): Promise<KeyState | undefined>;
  /** Runs the work of the request that holds the key. */
  within<T>(hold: KeyHold, work: () => Promise<T>): Promise<T>;
  /** Saves the reply for repeats. */
  keep(hold: KeyHold, reply: Uint8Array): Promise<void>;
  /** Releases the key; what is already made stays known. Never rejects. */
  release(hold: KeyHold): Promise<void>;
}

/** The commit need not wait for the disk: the lease's end or the result makes good what a power cut loses. */
const quickly = `quick as materialized (select set_config('synchronous_commit', 'off', true))`;
const expired = `k.created_at < clock_timestamp() - make_interval(hours => ${limits.idempotencyKeyKeptHours})`;
const leaseEnd = `clock_timestamp() + make_interval(secs => ${limits.idempotencyKeyLeaseSeconds})`;
const ofHold = `k.caller = $1 and k.key_digest = $2 and k.holder = $3::uuid`;
/** Rows of one sweep at the most. */
export const keySweepBatch = 1_000;

export type KeyStatements = Readonly<
  Record<'acquire' | 'made' | 'keep' | 'release' | 'renew' | 'sweep', string>
>;

/** Caller, digest of the key, digest of the request, holder. */
function acquireStatement(table: string): string {
  const kept = (column: string) => `${column} = case when ${expired} then null else k.${column} end`;
  return `
    with ${quickly}, taken as (
      insert into ${table} as k (caller, key_digest, request_digest, holder, lease_until)
      select $1::text, $2::bytea, $3::bytea, $4::uuid, ${leaseEnd} from quick
      on conflict (caller, key_digest) do update
         set request_digest = excluded.request_digest, holder = excluded.holder, lease_until = excluded.lease_until,
             ${kept('made_at')}, ${kept('result_ciphertext')}, ${kept('body_sha256')}, ${kept('body_bytes')},
             reply_ciphertext = null,
             created_at = case when ${expired} then excluded.created_at else k.created_at end
       where k.lease_until < clock_timestamp()
         and (${expired} or (k.reply_ciphertext is null
                             and (k.made_at is null or k.request_digest = excluded.request_digest)))
      returning k.*
    )
    select true as "isHeld", true as "isSameRequest", made_at is not null as "isMade", result_ciphertext as result,
           null::bytea as reply, body_sha256 as "bodySha256", body_bytes as "bodyBytes"
      from taken
    union all
    select false, k.request_digest = $3, k.made_at is not null, null, k.reply_ciphertext, k.body_sha256, k.body_bytes
      from ${table} k where k.caller = $1 and k.key_digest = $2 and not exists (select from taken)`;
}

/** @param table its name, with its schema where it needs one */
export function keyStatements(table: string): KeyStatements {
  return {
    acquire: acquireStatement(table),
    /** Takes a hold: caller, digest, holder; then the sealed result, the body's sha256 and bytes. No row: it is lost. */
    made: `
      update ${table} k
         set made_at = clock_timestamp(), result_ciphertext = $4::bytea, body_sha256 = $5::text, body_bytes = $6::bigint
       where ${ofHold} and k.made_at is null returning 1`,
    /** As `made`, with the sealed reply. */
    keep: `
      with ${quickly}
      update ${table} k
         set reply_ciphertext = $4::bytea, made_at = coalesce(k.made_at, clock_timestamp()),
             body_sha256 = coalesce(k.body_sha256, $5::text), body_bytes = coalesce(k.body_bytes, $6::bigint),
             lease_until = clock_timestamp()
        from quick where ${ofHold}`,
    release: `
      with ${quickly}, gone as (
        delete from ${table} k using quick where ${ofHold} and k.made_at is null
      )
      update ${table} k set lease_until = clock_timestamp() from quick where ${ofHold} and k.made_at is not null`,
    /** Callers, digests and holders. A row locked by a transaction needs no renewal: no request can acquire it. */
    renew: `
      with ${quickly}, held as (
        select k.caller, k.key_digest
          from ${table} k
          join unnest($1::text[], $2::bytea[], $3::uuid[]) as h (caller, key_digest, holder)
            on k.caller = h.caller and k.key_digest = h.key_digest and k.holder = h.holder
         where k.reply_ciphertext is null
           for update of k skip locked
      )
      update ${table} k set lease_until = ${leaseEnd}
        from held, quick where k.caller = held.caller and k.key_digest = held.key_digest`,
    sweep: `
      delete from ${table} where (caller, key_digest) in (
        select k.caller, k.key_digest from ${table} k
         where ${expired} and k.lease_until < clock_timestamp() order by k.created_at limit ${keySweepBatch}
           for update skip locked)
      returning 1`,
  };
}
