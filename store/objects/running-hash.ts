/** The SHA-256 of an upload that comes in pieces. */
import { createSHA256, type IHasher } from 'hash-wasm';
import type { Intake } from './intake.ts';

/** Where a piece begins, and the recorded state of the digest there; null where it is not known. */
interface HashPoint {
  readonly offsetBytes: number;
  readonly hashState: Buffer | null;
}

/** One digest for the whole process, because each has a memory of its own: the pieces take turns with their states. */
class SharedDigest {
  readonly #hasher: IHasher;
  readonly #initial: Uint8Array;
  #holder: RunningHash | undefined;

  constructor(hasher: IHasher) {
    this.#hasher = hasher;
    this.#initial = hasher.init().save();
  }

  get initial(): Uint8Array {
    return this.#initial;
  }

  /** The digest with the state of `next`. */
  of(next: RunningHash): IHasher {
    if (this.#holder === next) return this.#hasher;
    if (this.#holder !== undefined) this.#holder.saved = this.#hasher.save();
    this.#hasher.load(next.saved);
    this.#holder = next;
    return this.#hasher;
  }
}

const sharedDigest = createSHA256().then((hasher) => new SharedDigest(hasher));

/** Taken along by a code whose state can be recorded, as long as the bytes do not come too fast for it. */
export class RunningHash {
  /** Whether the piece begins at the upload's first byte. */
  readonly isWhole: boolean;
  /** The state while another piece has the digest. */
  saved: Uint8Array;
  #digest: SharedDigest | null;

  private constructor(digest: SharedDigest | null, saved: Uint8Array, isWhole: boolean) {
    this.#digest = digest;
    this.saved = saved;
    this.isWhole = isWhole;
  }

  static async from({ offsetBytes, hashState }: HashPoint): Promise<RunningHash> {
    const digest = await sharedDigest;
    if (offsetBytes > 0 && hashState === null) return new RunningHash(null, digest.initial, false);
    return new RunningHash(digest, hashState ?? digest.initial, offsetBytes === 0);
  }

  update(chunk: Buffer): void {
    this.#digest?.of(this).update(chunk);
  }

  /** From now on the piece's own digest must do; the upload's is read from the store if the piece breaks off. */
  leaveToPlatform(): void {
    if (this.isWhole) this.#digest = null;
  }

  state(): Buffer | null {
    return this.#digest === null ? null : Buffer.from(this.#digest.of(this).save());
  }

  digest(intake: Intake): string | null {
    if (this.isWhole) return intake.digests().sha256;
    if (this.#digest === null) return null;
    const hasher = this.#digest.of(this);
    this.saved = hasher.save();
    const digest = hasher.digest('hex');
    // Digesting ends the state.
    hasher.load(this.saved);
    return digest;
  }
}
