/** The tester's record: what the platform has acknowledged, and what it may have done without an answer. */
import type { RecordedCall } from '../claims/campaign-record.ts';

export interface SentBody {
  readonly sha256: string;
  acknowledged: boolean;
  /** How often it was sent; each may have taken effect. */
  sends: number;
  /** It was sent again after its answer, perhaps after a newer body: then it is the newest one. */
  isRepeatedLate: boolean;
}

/** All that was sent under one identifier of one node, oldest first. */
export interface UploadEntry {
  readonly nodeId: number;
  readonly identifier: string;
  readonly bodies: SentBody[];
  outputId: number | undefined;
}

/** A node of which an Administrator asked for a reprocess. */
export interface ReprocessEntry {
  readonly nodeId: number;
  acknowledged: number;
  ambiguous: number;
}

/**
 * How many versions of the output there can have been. Bytes that the output has already make none, so there is one of
 * each body; but where an older body was sent more than once, one of its sends may have come after the newer body.
 */
export function maxVersions({ bodies }: UploadEntry): number {
  const mayComeLate = bodies.slice(0, -1).some(({ sends }) => sends > 1);
  return mayComeLate ? bodies.reduce((sum, { sends }) => sum + sends, 0) : bodies.length;
}

/** What happened in one round. */
export class Journal {
  /** The kind of fault in force. */
  readonly kind: string;
  readonly uploads = new Map<string, UploadEntry>();
  readonly sessions: string[] = [];
  readonly reprocesses = new Map<number, ReprocessEntry>();
  /** Calls of runners, for the history of each run. */
  readonly runnerCalls: RecordedCall[] = [];
  readonly wrong: Finding[] = [];
  readonly counts = { acknowledged: 0, ambiguous: 0, staleCalls: 0 };

  constructor(kind: string) {
    this.kind = kind;
  }

  find(what: Finding['what'], sentence: string): void {
    if (this.wrong.length < maxFindings) this.wrong.push({ what, sentence });
  }

  /** Each finding is reported once. */
  findOnce(what: Finding['what'], sentence: string): void {
    if (!this.wrong.some((finding) => finding.sentence === sentence)) this.find(what, sentence);
  }

  upload(nodeId: number, identifier: string): UploadEntry {
    const name = `${nodeId} ${identifier}`;
    let entry = this.uploads.get(name);
    if (entry === undefined) {
      entry = { nodeId, identifier, bodies: [], outputId: undefined };
      this.uploads.set(name, entry);
    }
    return entry;
  }
}

const maxFindings = 1_000;

export interface Finding {
  readonly what:
    | 'lost'
    | 'torn'
    | 'doubled'
    | 'stuck'
    | 'stale'
    | 'revoked'
    | 'recovered'
    | 'answer'
    | 'share';
  readonly sentence: string;
}
