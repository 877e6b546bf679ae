import type { Annotation, ChannelSeries } from '../../api.ts';
import type { Clock } from '../address.ts';
import type { Marks } from '../marks.ts';
import type { Panel, TimeSpan } from '../model.ts';
import type { ChartGroup } from './group.ts';

export interface ChartProps {
  panel: Panel;
  /** The machine of these curves, when several are side by side. */
  lead?: string;
  /** Follows the name of a panel of a layout, where another may have the same one. */
  place?: string;
  /** The least range of the axis, for charts that are compared. */
  scale?: { min: number; max: number } | null;
  /** The height of curves, in pixels. */
  height?: number;
  series: ReadonlyMap<string, ChannelSeries>;
  span: TimeSpan;
  originMs: number;
  clock: Clock;
  dark: boolean;
  group: ChartGroup;
  busy: boolean;
  marks: Marks;
  annotations: readonly Annotation[];
  onZoom: (span: TimeSpan) => void;
  onReset: () => void;
  onRemove: (channelKey: string) => void;
  /** Announces a sentence to screen readers. */
  onSpeak: (sentence: string) => void;
}

/** What all charts of a dashboard share. */
export type World = Omit<
  ChartProps,
  'panel' | 'lead' | 'place' | 'scale' | 'height' | 'dark' | 'onRemove' | 'onSpeak'
>;
