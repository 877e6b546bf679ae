/** A node's watermark: the position and id of the last parent output that is fully consumed; 0 and null at the beginning. */
export interface Watermark {
  readonly position: number;
  readonly outputId: number | null;
}

export type WatermarkStep = 'advance' | 'same' | 'regression' | 'unknown-input';

/**
 * Judges a wanted watermark (interface, runner rule 4).
 * @param inputPosition the position of the named output among the inputs of the task, undefined when it is none of them
 */
export function judgeWatermark(present: Watermark, inputPosition: number | undefined): WatermarkStep {
  if (inputPosition === undefined) return 'unknown-input';
  if (inputPosition > present.position) return 'advance';
  return inputPosition === present.position ? 'same' : 'regression';
}
