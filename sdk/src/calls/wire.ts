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
