/** Wire forms of one dashboard and its series (contract: Dashboard support; decisions 11). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { jsonObjectOut, pathId, timestampOut } from '../../http/schemas.ts';

export const dimensionParams = z.object({
  id: pathId().meta({ description: 'The dashboard (dimension).', example: exampleValues.dimensionId }),
});

const channelSchema = z
  .object({
    key: z.string().meta({ description: '`<outputId>:<channelId>`, as the series route accepts it.' }),
    id: z.string(),
    name: z.string(),
    unit: z.string().nullable(),
    type: z.string(),
    group: z.string(),
    realm: z.string(),
  })
  .meta({
    id: 'DashboardChannel',
    example: {
      key: '502:c3',
      id: 'c3',
      name: 'speed',
      unit: 'm/s',
      type: 'number',
      group: 'default',
      realm: 'lap-12',
    },
  });

const sourceSchema = z
  .object({
    outputId: z.int(),
    name: z.string(),
    realm: z.string(),
    time: z
      .object({
        kind: z.string(),
        from: z.string().nullable(),
        to: z.string().nullable(),
        basis: z.enum(['column', 'row-number']).meta({
          description:
            '`row-number`: the recording has no time; its rows are numbered from 0, one a millisecond.',
        }),
      })
      .meta({ description: '`relative`: from and to are offsets, written as times since 1970.' }),
    rowCount: z.int(),
    groups: z.array(z.object({ id: z.string(), name: z.string() })),
    channels: z.array(channelSchema),
  })
  .meta({
    id: 'DashboardSource',
    example: {
      outputId: 502,
      name: 'tabular-autodetect',
      realm: 'lap-12',
      time: { kind: 'absolute', from: exampleValues.startedAt, to: exampleValues.closedAt, basis: 'column' },
      rowCount: 18_000,
      groups: [{ id: 'default', name: 'default' }],
    },
  });

export const dashboardSchema = z
  .object({
    id: z.int(),
    title: z.string(),
    sessionId: z.guid(),
    sessionName: z.string(),
    dashboardName: z.string(),
    dashboardVersion: z.string(),
    url: z.string(),
    scenarioName: z.string().nullable(),
    from: timestampOut().nullable(),
    to: timestampOut().nullable(),
    layout: jsonObjectOut().nullable(),
    sources: z.array(sourceSchema),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'Dashboard',
    example: {
      id: exampleValues.dimensionId,
      title: 'Recording',
      sessionId: exampleValues.sessionId,
      sessionName: exampleValues.sessionName,
      dashboardName: 'Recording',
      dashboardVersion: 'next',
      url: `/dashboards/${exampleValues.dimensionId}`,
      scenarioName: exampleValues.scenarioName,
      to: exampleValues.closedAt,
      layout: null,
    },
  });

/** Long lists pass by reference: validating each of a million numbers would cost more than reading them. */
const numbersOut = z
  .custom<readonly number[]>((value) => Array.isArray(value))
  .meta({ type: 'array', items: { type: 'number' } });
const valuesOut = z
  .custom<readonly (number | string | boolean | null)[]>((value) => Array.isArray(value))
  .meta({ type: 'array', items: { type: ['number', 'string', 'boolean', 'null'] } });

const derivedOutput = z.int().optional().meta({ description: 'The recording of a derived channel.' });

export const seriesSchema = z
  .object({
    dimensionId: z.int(),
    from: timestampOut().nullable(),
    to: timestampOut().nullable(),
    series: z.array(
      z
        .object({
          channel: z.string().meta({ description: 'Its key; `=name` of a derived channel.' }),
          name: z.string(),
          unit: z.string().nullable(),
          outputId: derivedOutput,
          trace: z
            .object({
              value: z.union([z.number(), z.string(), z.boolean()]),
              from: timestampOut(),
              to: timestampOut(),
            })
            .optional()
            .meta({ description: 'With `split`: its value, and the times of its first and last row.' }),
          x: numbersOut.optional().meta({ description: 'With `x`: its values at the points.' }),
          times: numbersOut.meta({
            description: 'Milliseconds since 1970, or since the start of the recording.',
          }),
          values: valuesOut,
        })
        .meta({
          id: 'ChannelSeries',
          example: {
            channel: '502:c3',
            name: 'speed',
            unit: 'm/s',
            times: [1_772_359_200_000, 1_772_359_200_100],
            values: [61.2, 61.4],
          },
        }),
    ),
  })
  .meta({
    id: 'SeriesReply',
    example: { dimensionId: exampleValues.dimensionId, to: exampleValues.closedAt },
  });

const extremeSchema = z
  .object({
    value: z.number(),
    at: timestampOut().meta({ description: 'The time of the first row that has it, in whole milliseconds.' }),
  })
  .nullable();

const channelStatisticsSchema = z
  .object({
    key: z.string(),
    name: z.string(),
    unit: z.string().nullable(),
    outputId: derivedOutput,
    count: z.int().meta({ description: 'Rows with a value.' }),
    missing: z.int().meta({ description: 'Rows without one.' }),
    min: extremeSchema,
    max: extremeSchema,
    mean: z
      .number()
      .nullable()
      .meta({ description: 'Each row with a value counts alike, however long it lasts.' }),
    standardDeviation: z
      .number()
      .nullable()
      .meta({
        description:
          'The standard deviation of the sample (divided by the number of values less one); null below two values, and ' +
          'where squares of the values are beyond the largest number.',
      }),
    states: z
      .array(
        z.object({
          value: z.union([z.string(), z.boolean()]),
          ms: z
            .number()
            .meta({ description: 'Time from its rows to the rows behind them, in milliseconds.' }),
          share: z.number().meta({ description: 'Its part of the time with any value, 0 to 1.' }),
        }),
      )
      .nullable()
      .meta({
        description:
          'Texts and truth values by the time that they last, the longest 100 first. Null for numbers, for texts that ' +
          'hardly repeat, and for recordings whose rows are not in the order of time.',
      }),
  })
  .meta({
    id: 'ChannelStatistics',
    example: {
      key: '502:c3',
      name: 'speed',
      unit: 'm/s',
      count: 17_990,
      missing: 10,
      min: { value: 0, at: exampleValues.startedAt },
      max: { value: 94.9, at: exampleValues.closedAt },
      mean: 61.3,
      standardDeviation: 20.4,
      states: null,
    },
  });

export const statisticsSchema = z
  .object({
    dimensionId: z.int(),
    from: timestampOut().nullable(),
    to: timestampOut().nullable(),
    statistics: z.array(channelStatisticsSchema),
  })
  .meta({
    id: 'StatisticsReply',
    example: { dimensionId: exampleValues.dimensionId, to: exampleValues.closedAt },
  });
