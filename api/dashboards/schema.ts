/** Wire forms of one dashboard and its series (contract: Dashboard support; decisions 11). */
import { z } from 'zod';
import { story } from '../../domain/examples.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import { integerParameter, jsonObjectOut, pathId, timestampOut } from '../../http/schemas.ts';

const seriesLimits = { channels: 64, minPoints: 2, maxPoints: 10_000, initialPoints: 2000 } as const;

export const dimensionParams = z.object({
  id: pathId().meta({ description: 'The dashboard (dimension).', example: story.dimensionId }),
});

const channelSchema = z
  .object({
    key: z.string().meta({ description: '`<outputId>:<channelId>`, as the series route takes it.' }),
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
      .object({ kind: z.string(), from: z.string().nullable(), to: z.string().nullable() })
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
      time: { kind: 'absolute', from: story.startedAt, to: story.closedAt },
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
      id: story.dimensionId,
      title: 'Recording',
      sessionId: story.sessionId,
      sessionName: story.sessionName,
      dashboardName: 'Recording',
      dashboardVersion: 'next',
      url: `/dashboards/${story.dimensionId}`,
      scenarioName: story.scenarioName,
      to: story.closedAt,
      layout: null,
    },
  });

function timeParameter(name: string, description: string) {
  const error = `${name} must be an ISO 8601 timestamp.`;
  return z
    .string()
    .max(64, { error })
    .transform((text, context) => {
      const time = parseTimestamp(text);
      if (time !== null) return time;
      context.addIssue({ code: 'custom', message: error, input: text });
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', format: 'date-time', description, example: story.startedAt });
}

const channelsMessage = `channels must name 1 to ${seriesLimits.channels} channels.`;

export const seriesQuerySchema = z
  .object({
    channels: z
      .string({ error: channelsMessage })
      .transform((text) => [...new Set(text.split(',').filter((key) => key !== ''))])
      .refine((keys) => keys.length >= 1 && keys.length <= seriesLimits.channels, { error: channelsMessage })
      .meta({
        type: 'string',
        description: 'Channel keys of the dashboard, separated by commas.',
        example: '502:c3,502:c4',
      }),
    from: timeParameter('from', 'Points from this time on. Default: the beginning of the recordings.'),
    to: timeParameter('to', 'Points up to this time. Default: the end of the recordings.'),
    maxPoints: integerParameter({
      min: seriesLimits.minPoints,
      max: seriesLimits.maxPoints,
      initial: seriesLimits.initialPoints,
      message: `maxPoints must be between ${seriesLimits.minPoints} and ${seriesLimits.maxPoints}.`,
    }).meta({ description: 'Points of each channel, at most.' }),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    error: 'from must not be after to.',
  });

/** Long lists pass by reference: validating each of a million numbers would cost more than reading them. */
const numbersOut = z
  .custom<readonly number[]>((value) => Array.isArray(value))
  .meta({ type: 'array', items: { type: 'number' } });
const valuesOut = z
  .custom<readonly (number | string | boolean | null)[]>((value) => Array.isArray(value))
  .meta({ type: 'array', items: { type: ['number', 'string', 'boolean', 'null'] } });

export const seriesSchema = z
  .object({
    dimensionId: z.int(),
    from: timestampOut().nullable(),
    to: timestampOut().nullable(),
    series: z.array(
      z
        .object({
          channel: z.string().meta({ description: 'The key that was asked for.' }),
          name: z.string(),
          unit: z.string().nullable(),
          times: numbersOut.meta({ description: 'Milliseconds since 1970, or since the recording began.' }),
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
  .meta({ id: 'SeriesReply', example: { dimensionId: story.dimensionId, to: story.closedAt } });
