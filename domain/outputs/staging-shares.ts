/** How much of the room for bytes on their way each caller uses. */

/** A part of an object that is being filled, as far as it uses its caller's share. */
export interface SharingPart {
  /** Blocks that it may still need, at the most. */
  readonly missingBlocks: number;
  /** Blocks that it has. */
  readonly takenBlocks: number;
  /** Whose share of the room it uses; undefined: none. */
  readonly caller?: string | undefined;
}

interface Share {
  held: number;
  readonly growing: Set<SharingPart>;
  /** The part that may use what stays free for the neediest one. */
  favoured: SharingPart | undefined;
}

export class StagingShares {
  readonly #blocksPerCaller: number;
  /** A caller without parts has no entry. */
  readonly #byCaller = new Map<string, Share>();

  constructor(blocksPerCaller: number) {
    this.#blocksPerCaller = blocksPerCaller;
  }

  grow(part: SharingPart): void {
    this.#shareOf(part)?.growing.add(part);
  }

  acquire(part: SharingPart): void {
    const share = this.#shareOf(part);
    if (share !== undefined) share.held += 1;
  }

  release(part: SharingPart): void {
    const share = this.#shareOf(part);
    if (share !== undefined) share.held -= 1;
    this.#forget(part, share);
  }

  /** The part will not grow any more. */
  leave(part: SharingPart): void {
    const share = this.#shareOf(part);
    share?.growing.delete(part);
    if (share?.favoured === part) share.favoured = undefined;
    this.#forget(part, share);
  }

  favour(part: SharingPart): void {
    const share = this.#shareOf(part);
    if (share !== undefined) share.favoured = part;
  }

  isFavoured(part: SharingPart): boolean {
    return this.#shareOf(part)?.favoured === part;
  }

  /** Whether a part may have one more block: `last` only as the caller's favoured part. */
  placeOf(part: SharingPart): 'free' | 'last' | 'none' {
    const share = this.#shareOf(part);
    if (share === undefined || share.favoured === part) return 'free';
    const free = this.#blocksPerCaller - share.held;
    let neediest = part.missingBlocks;
    for (const one of share.growing) neediest = Math.max(neediest, one.missingBlocks);
    if (free > neediest) return 'free';
    if (share.favoured !== undefined) return 'none';
    // A part may be larger than the share: it has its turn when it is alone.
    const isAlone = share.held <= part.takenBlocks;
    return free >= part.missingBlocks || isAlone ? 'last' : 'none';
  }

  #shareOf({ caller }: SharingPart): Share | undefined {
    if (caller === undefined) return undefined;
    const known = this.#byCaller.get(caller);
    if (known !== undefined) return known;
    const share: Share = { held: 0, growing: new Set(), favoured: undefined };
    this.#byCaller.set(caller, share);
    return share;
  }

  #forget({ caller }: SharingPart, share: Share | undefined): void {
    if (caller !== undefined && share?.held === 0 && share.growing.size === 0) this.#byCaller.delete(caller);
  }
}
