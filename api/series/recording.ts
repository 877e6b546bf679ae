/**
 * What the series reader needs to know of a recording: a part of the description that the tabular conversion writes
 * (`activities/builtin/tabular/description.ts`), repeated here because the API does not import activities.
 */

import type { ChannelType } from '../../domain/outputs/recording.ts';

export type SeriesValue = number | string | boolean | null;

export interface SeriesRecording {
  rowCount: number;
  /** Milliseconds in the column `t`; with the basis `row-number` numbers of rows. */
  time: { from: number; to: number; sorted: boolean; basis?: 'column' | 'row-number' | undefined };
  channels: readonly {
    id: string;
    type: ChannelType;
    /** Column of the Parquet file, `c<n>`. */
    column: string;
  }[];
  /** Where the coarse level lies in the file, see `overview.ts`. */
  overview?:
    | {
        offset: number;
        blocks: number;
        blockRows: number;
        columns: readonly string[];
        /** The columns of states among them; bytes of the texts, and number of changes when they are there. */
        texts?: readonly { column: string; bytes: number; changes: number | null }[] | undefined;
        /** It has the moments of each block. */
        moments?: boolean | undefined;
      }
    | undefined;
}

export interface Series {
  /** Index of the source in the request. */
  source: number;
  channel: string;
  /** Milliseconds, rising; since 1970 or relative, as the recording's description says. */
  times: number[];
  values: SeriesValue[];
}
