/**
 * The description of a converted recording: what the Parquet file holds and where it came from. It is stored in the
 * file's own key-value metadata and goes into the output's metadata store; all of it is plain JSON.
 */
import { z } from 'zod';
import { channelTypes } from '../../../domain/outputs/recording.ts';

const number = z.number();

const channelSchema = z.object({
  /** Unique in the recording; callers of the series route name it. Without commas and control characters. */
  id: z.string(),
  /** The heading without its unit. */
  name: z.string(),
  unit: z.string().nullable(),
  type: z.enum(channelTypes),
  group: z.string(),
  realm: z.string(),
  /** Column of the Parquet file, `c<n>`. */
  column: z.string().regex(/^c\d{1,5}$/),
  nullCount: number,
  /** Smallest and largest value of numeric channels; null when there is none. */
  min: number.nullable().optional(),
  max: number.nullable().optional(),
  /** Mean and standard deviation (of the sample) of numeric channels; null when there is none. */
  mean: number.nullable().optional(),
  standardDeviation: number.nullable().optional(),
});

const panelSchema = z.object({
  title: z.string(),
  group: z.string(),
  unit: z.string().nullable(),
  channels: z.array(z.string()),
});

export const recordingDescriptionSchema = z.object({
  version: z.literal(1),
  source: z.object({ outputId: number, outputIdentifier: z.string() }),
  /** The detected format of the upload. */
  format: z.enum(['csv', 'tsv', 'semicolon', 'pipe', 'json', 'ndjson', 'parquet']),
  realms: z.array(z.string()),
  groups: z.array(z.object({ id: z.string(), name: z.string() })),
  channels: z.array(channelSchema),
  time: z.object({
    /** Column of the Parquet file: milliseconds, DOUBLE, never null. */
    column: z.literal('t'),
    /** `absolute`: since 1970-01-01 UTC. `relative`: since the recording began (or row numbers, see `basis`). */
    kind: z.enum(['absolute', 'relative']),
    from: number,
    to: number,
    /** Heading of the time column; null when rows were numbered. */
    name: z.string().nullable(),
    basis: z.enum(['column', 'row-number']),
    /** Rows are in order of time. False only for files too large to sort. */
    sorted: z.boolean(),
  }),
  rowCount: z.int(),
  /** Columns of the upload. */
  columnCount: number,
  warnings: z.array(z.string()),
  suggestedLayout: z.object({ version: z.literal(1), panels: z.array(panelSchema) }).optional(),
  /** Where the coarse level is in the file, see `overview.ts`. Absent for short or unsorted recordings. */
  overview: z
    .object({
      offset: number,
      blocks: number,
      blockRows: number,
      columns: z.array(z.string()),
      /** The columns of states among them, see `states.ts`; `changes` is null where there are too many. */
      texts: z.array(z.object({ column: z.string(), bytes: number, changes: number.nullable() })).optional(),
      /** It has the moments of each block. */
      moments: z.literal(true).optional(),
    })
    .optional(),
});

export type RecordingDescription = z.infer<typeof recordingDescriptionSchema>;
export type RecordingChannel = z.infer<typeof channelSchema>;
export type SuggestedLayout = NonNullable<RecordingDescription['suggestedLayout']>;
export type RecordingFormat = RecordingDescription['format'];

/** Key of the description in the Parquet file's key-value metadata. */
export const descriptionKey = 'sdp.recording';

export const recordingLimits = {
  columns: 5000,
  nameCharacters: 255,
  warnings: 20,
  warningCharacters: 300,
} as const;
