/** One situation that runners meet, simulated for the runner under test. */
import type { Baseline, RunnerUnderTest, Stage, StageOptions } from './stage.ts';

export interface Scenario {
  readonly name: string;
  /** What happens, as a phrase. */
  readonly title: string;
  /** Only for runners of incremental node templates. */
  readonly incremental?: boolean;
  /** How the server of this scenario differs. */
  readonly stage?: (under: RunnerUnderTest, baseline: Baseline | undefined) => StageOptions;
  /** Runs it and records its findings. */
  readonly play: (stage: Stage) => Promise<void>;
}
