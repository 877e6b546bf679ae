/** The SHA-256 of an upload that comes in pieces. */
import { createSHA256, type IHasher } from 'hash-wasm';
import type { Intake } from './intake.ts';

/** Where a piece begins, and the recorded state of the digest there; null where it is not known. */
interface HashPoint {
  readonly offsetBytes: number;
  readonly hashState: Buffer | null;
}

/** Taken along by a code whose state can be recorded, as long as the bytes do not come too fast for it. */
export class RunningHash {
  #portable: IHasher | null;
  /** Whether the piece begins at the upload's first byte. */
  readonly isWhole: boolean;

  private constructor(portable: IHasher | null, isWhole: boolean) {
    this.#portable = portable;
    this.isWhole = isWhole;
  }

  static async from({ offsetBytes, hashState }: HashPoint): Promise<RunningHash> {
    if (offsetBytes > 0 && hashState === null) return new RunningHash(null, false);
    const portable = await createSHA256();
    portable.init();
    if (hashState !== null) portable.load(hashState);
    return new RunningHash(portable, offsetBytes === 0);
  }

  update(chunk: Buffer): void {
    this.#portable?.update(chunk);
  }

  /** From now on the piece's own digest must do; the upload's is read from the store if the piece breaks off. */
  leaveToPlatform(): void {
    if (this.isWhole) this.#portable = null;
  }

  state(): Buffer | null {
    return this.#portable === null ? null : Buffer.from(this.#portable.save());
  }

  digest(intake: Intake): string | null {
    if (this.isWhole) return intake.digests().sha256;
    return this.#portable?.digest('hex') ?? null;
  }
}
