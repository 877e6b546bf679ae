/**
 * Who may use the room for bytes on their way.
 *
 * Parts grow while they are filled and release nothing before they are full, so the room must never be full of parts of
 * which none can be finished: as much stays free as the neediest of them lacks, and only one part at a time may use it. The
 * same holds within half of the room for the parts of one caller, so that no caller keeps others waiting.
 */

/** A part of an object that is being filled. */
export interface GrowingPart {
  /** Blocks that it may still need, at the most. */
  readonly missingBlocks: number;
  /** Blocks that it has. */
  readonly takenBlocks: number;
  /** Whose share of the room it uses; undefined: none. */
  readonly caller?: string | undefined;
}

/** A number of blocks, and the parts that grow in them. */
class Room {
  readonly #blocks: number;
  readonly #growing = new Set<GrowingPart>();
  /** The part that may use what stays free for the neediest one. */
  #favoured: GrowingPart | undefined;
  held = 0;

  constructor(blocks: number) {
    this.#blocks = blocks;
  }

  get free(): number {
    return this.#blocks - this.held;
  }

  get isUnused(): boolean {
    return this.held === 0 && this.#growing.size === 0;
  }

  grow(part: GrowingPart): void {
    this.#growing.add(part);
  }

  leave(part: GrowingPart): void {
    this.#growing.delete(part);
    if (this.#favoured === part) this.#favoured = undefined;
  }

  favour(part: GrowingPart): void {
    this.#favoured = part;
  }

  isFavoured(part: GrowingPart): boolean {
    return this.#favoured === part;
  }

  /** Whether a part may have one more block: `last` only as the favoured part. */
  placeFor(part: GrowingPart): 'free' | 'last' | 'none' {
    if (this.#favoured === part) return 'free';
    let neediest = part.missingBlocks;
    for (const one of this.#growing) neediest = Math.max(neediest, one.missingBlocks);
    if (this.free > neediest) return 'free';
    if (this.#favoured !== undefined) return 'none';
    // A part may be larger than a share: it has its turn when it is alone.
    const isAlone = this.held <= part.takenBlocks;
    return this.free >= part.missingBlocks || isAlone ? 'last' : 'none';
  }
}

export class StagingShares {
  readonly blocks: number;
  readonly #all: Room;
  /** A caller without parts has no entry. */
  readonly #byCaller = new Map<string, Room>();

  constructor(blocks: number) {
    this.blocks = blocks;
    this.#all = new Room(blocks);
  }

  get free(): number {
    return this.#all.free;
  }

  grow(part: GrowingPart): void {
    for (const room of this.#roomsOf(part)) room.grow(part);
  }

  acquire(part: GrowingPart): void {
    for (const room of this.#roomsOf(part)) room.held += 1;
  }

  release(part: GrowingPart): void {
    for (const room of this.#roomsOf(part)) room.held -= 1;
    this.#forget(part);
  }

  /** The part will not grow any more. */
  leave(part: GrowingPart): void {
    for (const room of this.#roomsOf(part)) room.leave(part);
    this.#forget(part);
  }

  /** Whether a part may have one more block now. It counts on it: the part may become the favoured one. */
  mayAcquire(part: GrowingPart): boolean {
    if (this.free === 0) return false;
    if (this.#all.isFavoured(part)) return true;
    const places = this.#roomsOf(part).map((room) => ({ room, place: room.placeFor(part) }));
    if (places.some(({ place }) => place === 'none')) return false;
    for (const { room, place } of places) if (place === 'last') room.favour(part);
    return true;
  }

  /** The part may use what stays free for the neediest one of all. */
  isFavoured(part: GrowingPart): boolean {
    return this.#all.isFavoured(part);
  }

  isFavouredOfCaller(part: GrowingPart): boolean {
    return this.#shareOf(part)?.isFavoured(part) ?? false;
  }

  hasPlaceInShare(part: GrowingPart): boolean {
    return this.#shareOf(part)?.placeFor(part) !== 'none';
  }

  #roomsOf(part: GrowingPart): readonly Room[] {
    const share = this.#shareOf(part);
    return share === undefined ? [this.#all] : [this.#all, share];
  }

  #shareOf({ caller }: GrowingPart): Room | undefined {
    if (caller === undefined) return undefined;
    const known = this.#byCaller.get(caller);
    if (known !== undefined) return known;
    const share = new Room(Math.floor(this.blocks / 2));
    this.#byCaller.set(caller, share);
    return share;
  }

  #forget({ caller }: GrowingPart): void {
    if (caller !== undefined && this.#byCaller.get(caller)?.isUnused === true) this.#byCaller.delete(caller);
  }
}
