/** What the platform has acknowledged, and what it may have done without saying so: the tester's own memory. */
import type { RecordedCall } from '../campaign-record.ts';

export interface SentBody {
  readonly sha256: string;
  /** The number of the kind of fault during which it was sent. */
  readonly kind: string;
  acknowledged: boolean;
  /** How often it was sent; each may have taken effect. */
  sends: number;
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

export class Journal {
  readonly uploads = new Map<string, UploadEntry>();
  readonly sessions: string[] = [];
  readonly reprocesses = new Map<number, ReprocessEntry>();
  /** Calls of runners, for the history of each run. */
  readonly runnerCalls: RecordedCall[] = [];
  /** What was wrong at once, without waiting for the end. */
  readonly wrong: Finding[] = [];
  readonly counts = {
    acknowledged: 0,
    ambiguous: 0,
    staleRefused: 0,
    staleAccepted: 0,
    revokedRefused: 0,
    revokedAccepted: 0,
    exercises: 0,
  };
  /** The kind of fault that is at work now. */
  kind = '';

  find(what: Finding['what'], sentence: string): void {
    if (this.wrong.length < mostFindings) this.wrong.push({ what, kind: this.kind, sentence });
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

const mostFindings = 1_000;

export interface Finding {
  readonly what: 'lost' | 'torn' | 'doubled' | 'stuck' | 'stale' | 'revoked' | 'recovered' | 'answer';
  readonly kind: string;
  readonly sentence: string;
}
