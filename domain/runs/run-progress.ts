/** How far a run is, as a heartbeat of its runner reported it: it may leave out all but `done`. */
export interface RunProgress {
  readonly done: number;
  readonly total?: number | null;
  readonly unit?: string | null;
}

/** `16 of 40 laps` */
export function progressWords({ done, total, unit }: RunProgress): string {
  return [done, ...(total == null ? [] : ['of', total]), ...(unit ? [unit] : [])].join(' ');
}
