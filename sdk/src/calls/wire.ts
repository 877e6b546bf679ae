/** Bodies of the runner routes as they go over the wire, under the names that the kit has for them. */
import type { RunnerInputs } from '../../../client/types.ts';

export type {
  RunnerHeartbeat as HeartbeatWire,
  RunnerIncremental as IncrementalWire,
  RunnerInput as InputWire,
  RunnerInputs as InputsWire,
  RunnerOutput as OutputWire,
  RunnerState as StateWire,
  RunnerTask as ClaimWire,
  RunnerUpload as UploadWire,
  RunnerUploadPart as PartWire,
  RunnerWatermark as WatermarkWire,
  RunnerWhoami as WhoamiWire,
} from '../../../client/types.ts';

export type InputMode = RunnerInputs['mode'];

/** The task to claim with an end. */
export interface NextWire {
  readonly waitSeconds: number;
  readonly templates: readonly string[];
}

/** Where the watermark is after an input was rejected. */
export interface RejectionWire {
  readonly watermark?: number | null;
  readonly pendingInputs?: number;
}

/** A moment or a range of the session, as the platform takes it. */
export interface AnnotationWire {
  readonly from: string;
  readonly to: string | null;
  readonly label: string;
  readonly text: string;
  readonly tags: readonly string[];
  readonly channel: string | null;
}
