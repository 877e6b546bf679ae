/** The SHA-256 of a read of all bytes. */
import { createHash } from 'node:crypto';
import { sha256Of } from '../../../client/checksum.ts';

/** All bytes came, and they are not those that the platform stores. */
export class OtherBytes extends Error {}

export class Checksum {
  readonly #hash = createHash('sha256');
  readonly #wanted: string | undefined;

  /** @param etag of the bytes as stored: their SHA-256, or a tag of the store, by which nothing is checked */
  constructor(etag: string | undefined) {
    this.#wanted = sha256Of(etag);
  }

  update(bytes: Uint8Array): void {
    if (this.#wanted !== undefined) this.#hash.update(bytes);
  }

  /** To be called once, after the last byte. @throws OtherBytes */
  check(outputId: number): void {
    if (this.#wanted === undefined) return;
    const sha256 = this.#hash.digest('hex');
    if (sha256 === this.#wanted) return;
    throw new OtherBytes(
      `Input ${outputId} came with other bytes: their SHA-256 is ${sha256}, and the platform has ${this.#wanted}.`,
    );
  }
}
