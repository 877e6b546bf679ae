import { readMedia } from '../../preview/fetch.ts';
import type { Frame } from './model.ts';

/** Pictures that were shown last, so that a step back shows them at once. */
const keptFiles = 8;

/**
 * Addresses of outputs in the memory of the page: their bytes need the token, which an address of the platform cannot
 * carry. Those that are no longer kept are given back.
 */
export class KeptFiles {
  readonly #addresses = new Map<number, string>();
  readonly #ended = new AbortController();

  /** @throws {Error} for one that is too large to show */
  async addressOf(frame: Frame): Promise<string> {
    const { id } = frame.output;
    const known = this.#addresses.get(id);
    const address = known ?? URL.createObjectURL(await readMedia(frame.output, frame, this.#ended.signal));
    if (this.#ended.signal.aborted) URL.revokeObjectURL(address);
    this.#ended.signal.throwIfAborted();
    // The newest last.
    this.#addresses.delete(id);
    this.#addresses.set(id, address);
    const most = frame.isVideo ? 1 : keptFiles;
    for (const [oldest, old] of this.#addresses) {
      if (this.#addresses.size <= most) break;
      this.#addresses.delete(oldest);
      URL.revokeObjectURL(old);
    }
    return address;
  }

  /** Gives all of them back. */
  end(): void {
    this.#ended.abort();
    for (const address of this.#addresses.values()) URL.revokeObjectURL(address);
    this.#addresses.clear();
  }
}
