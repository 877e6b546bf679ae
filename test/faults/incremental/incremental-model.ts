/**
 * The promises of the incremental protocol (interface, runner rule 4; decisions 7 and 9) as a model of one node: from
 * each fact it derives which run is open, what its task lists, and the position of the watermark. Positions count the
 * uploads of the test; only their order matters.
 */
export interface Version {
  readonly parent: string;
  readonly outputId: number;
  readonly sha256: string;
  readonly position: number;
  supersededAt: number | null;
}

interface Mark {
  readonly position: number;
  readonly outputId: number | null;
}

interface OpenRun {
  readonly reason: 'input' | 'reprocess' | 'follow-up';
  upper: number | null;
  /** The run's own watermark, in a reprocess and its follow-ups. */
  own: Mark | null;
  attempts: number;
  lost: number;
  wrote: boolean;
  /** The chosen inputs of a reprocess, by output id; null: all within the bound. */
  readonly chosen: readonly number[] | null;
  /** Outputs that are not published yet, in the order in which they were written first. */
  staged: string[];
}

const nothing: Mark = { position: 0, outputId: null };
const lostAtMost = 3;

export class IncrementalModel {
  readonly versions: Version[] = [];
  /** What was consumed, in order. */
  readonly consumptions: string[] = [];
  /** Outputs that readers see, in order: those of all that was consumed, and more where a run completed before. */
  readonly published: string[] = [];
  /** Inputs by output id that were rejected when they were consumed last. */
  readonly rejected = new Set<number>();
  watermark: Mark = nothing;
  runs = 0;
  open: OpenRun | null = null;
  /** The newest run, when it failed for good. */
  parked: OpenRun | null = null;
  private readonly parents: readonly string[];
  private readonly trigger: 'all' | 'any';
  private readonly reprocess: 'latest' | 'all';
  private consumed = 0;
  private reprocessWanted = false;
  private readonly chosen = new Set<number>();

  constructor(parents: readonly string[], trigger: 'all' | 'any', reprocess: 'latest' | 'all') {
    this.parents = parents;
    this.trigger = trigger;
    this.reprocess = reprocess;
  }

  get isReady(): boolean {
    const has = this.parents.map((parent) => this.versions.some((version) => version.parent === parent));
    return this.trigger === 'all' ? has.every(Boolean) : has.some(Boolean);
  }

  uploaded(parent: string, outputId: number, sha256: string): void {
    const position = this.versions.length + 1;
    const before = this.versions.find((one) => one.outputId === outputId && one.supersededAt === null);
    if (before) before.supersededAt = position;
    this.versions.push({ parent, outputId, sha256, position, supersededAt: null });
    this.plan();
  }

  /** @param chosen output ids of inputs; null: a reprocess as the node template says */
  reprocessed(chosen: readonly number[] | null): void {
    if (chosen === null) this.reprocessWanted = true;
    else for (const outputId of chosen) this.chosen.add(outputId);
    this.plan();
  }

  /** @returns what the task must list above its watermark, uncapped */
  claimed(): Version[] {
    const run = this.open!;
    run.upper ??= this.versions.length;
    if (run.reason === 'reprocess') run.own ??= this.reprocessStart(run);
    return this.pending();
  }

  /** The watermark by which the open run goes. */
  get mark(): Mark {
    return this.open?.own ?? this.watermark;
  }

  pending(): Version[] {
    return this.visible().filter((version) => version.position > this.mark.position);
  }

  /** An output is written; one that the run has staged before is met again. */
  wrote(output: string): void {
    const run = this.open!;
    run.wrote = true;
    if (!run.staged.includes(output)) run.staged.push(output);
  }

  /**
   * The watermark moves past an input: with it all that the run has staged is published. A run over chosen inputs leaves the
   * watermark of the node.
   */
  consumedOne(version: Version, isRejected = false): void {
    const run = this.open!;
    const mark = { position: version.position, outputId: version.outputId };
    if (run.own) run.own = mark;
    if (run.chosen === null && mark.position > this.watermark.position) this.watermark = mark;
    if (isRejected) this.rejected.add(version.outputId);
    else this.rejected.delete(version.outputId);
    this.consumptions.push(nameOf(version));
    this.publish(run);
  }

  completed(followUp: boolean): void {
    const run = this.open!;
    this.publish(run);
    this.end(run);
    if (followUp) this.begin({ ...newRun('follow-up', run.chosen), own: run.own });
    this.plan();
  }

  /** The lease was lost; the third time ends the run. */
  lost(): void {
    const run = this.open!;
    run.lost += 1;
    if (run.lost < lostAtMost) run.attempts += 1;
    else this.failedForGood();
  }

  failed(): void {
    this.open!.attempts += 1;
  }

  /** By an operator. A run that was never claimed has consumed its inputs too. */
  cancelled(): void {
    this.open!.upper ??= this.versions.length;
    this.failedForGood();
  }

  /** Without an output, or suspended. */
  endedWithoutOutput(): void {
    this.end(this.open!);
    this.plan();
  }

  retried(): void {
    this.open = { ...this.parked!, lost: 0, attempts: this.parked!.attempts + 1 };
    this.parked = null;
  }

  /** By validation, a cancel, or the third lost lease: what is staged is gone. */
  failedForGood(): void {
    const run = this.open!;
    this.end(run);
    this.parked = run;
    this.plan();
  }

  private end(run: OpenRun): void {
    if (run.chosen === null) this.consumed = Math.max(this.consumed, run.upper ?? 0);
    run.staged = [];
    this.open = null;
  }

  private publish(run: OpenRun): void {
    this.published.push(...run.staged);
    run.staged = [];
  }

  private plan(): void {
    if (this.open || !this.isReady) return;
    if (this.reprocessWanted) {
      this.reprocessWanted = false;
      this.begin(newRun('reprocess'));
    } else if (this.chosen.size > 0) {
      this.begin(newRun('reprocess', [...this.chosen]));
      this.chosen.clear();
    } else if (this.versions.length > this.consumed) this.begin(newRun('input'));
  }

  private begin(run: OpenRun): void {
    this.open = run;
    this.parked = null;
    this.runs += 1;
  }

  private visible(): Version[] {
    const { chosen } = this.open!;
    return this.bounded().filter(({ outputId }) => chosen === null || chosen.includes(outputId));
  }

  private bounded(): Version[] {
    const upper = this.open!.upper!;
    return this.versions.filter(
      ({ position, supersededAt }) => position <= upper && (supersededAt === null || supersededAt > upper),
    );
  }

  /** Just below the first input of the run; without chosen inputs, at the node's watermark where that is lower. */
  private reprocessStart({ chosen }: OpenRun): Mark {
    const visible = this.visible();
    const latest = this.parents.flatMap((parent) => visible.findLast((one) => one.parent === parent) ?? []);
    const over = this.reprocess === 'all' || chosen !== null ? visible : latest;
    const first = Math.min(...over.map(({ position }) => position));
    const before = this.bounded().findLast(({ position }) => position < first) ?? nothing;
    return chosen === null && this.watermark.position < before.position ? this.watermark : before;
  }
}

export function nameOf(version: { readonly outputId: number; readonly sha256: string }): string {
  return `${version.outputId}-${version.sha256.slice(0, 16)}`;
}

function newRun(reason: OpenRun['reason'], chosen: OpenRun['chosen'] = null): OpenRun {
  return { chosen, reason, upper: null, own: null, attempts: 1, lost: 0, wrote: false, staged: [] };
}
