/** Wire forms of the questions that are asked of a dashboard's channels: queries, and bodies with derived channels. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { parseRecordingTime } from '../../domain/timestamp.ts';
import { errorSchema } from '../../http/errors.ts';
import {
  booleanParameter,
  integerParameter,
  isInOrder,
  nameText,
  optionalText,
  orderMessage,
} from '../../http/schemas.ts';
import { documentIssueSchema } from '../document-issue.ts';

export const seriesLimits = { channels: 64, minPoints: 2, maxPoints: 10_000, initialPoints: 2000 } as const;

function timeParameter(name: string, description: string) {
  const error = `${name} must be an ISO 8601 timestamp.`;
  return z
    .string()
    .max(64, { error })
    .transform((text, context) => {
      const time = parseRecordingTime(text);
      if (time !== null) return time;
      context.addIssue({ code: 'custom', message: error, input: text });
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', format: 'date-time', description, example: exampleValues.startedAt });
}

const pointsMessage = `maxPoints must be between ${seriesLimits.minPoints} and ${seriesLimits.maxPoints}.`;
const channelsMessage = `channels must name 1 to ${seriesLimits.channels} channels.`;

const windowShape = {
  channels: z
    .string({ error: channelsMessage })
    .transform((text) => [...new Set(text.split(',').filter((name) => name !== ''))])
    .refine((names) => names.length >= 1 && names.length <= seriesLimits.channels, { error: channelsMessage })
    .optional()
    .meta({
      type: 'string',
      description:
        'Keys or names of channels, separated by commas. A name stands for every channel so named; a channel whose name ' +
        `has a comma is named by its key. Default: the first ${seriesLimits.channels} channels.`,
      example: '502:c3,rpm',
    }),
  from: timeParameter(
    'from',
    'Rows from this time on, to the millisecond; those at this time count. Default: the start of the recordings.',
  ),
  to: timeParameter(
    'to',
    'Rows up to this time, to the millisecond; those at this time count. Default: the end of the recordings.',
  ),
};

/** The fields of a request's body, where the channels are a list. */
const axisText = (error: string) => z.string({ error }).min(1, { error }).max(300, { error }).optional();
const axisShape = {
  x: axisText('x must name a channel.').meta({
    description:
      'Key or name of a channel of numbers that never falls (distance), or `=name` of a derived one: points are drawn over ' +
      'it in place of time, and rows without it are left out. With `split` it may begin again in each trace.',
    example: 'distance',
  }),
  split: axisText('split must name a channel.').meta({
    description:
      'Key or name of a step channel (lap): each of its values, at most 200, makes one trace of each channel.',
    example: 'lap',
  }),
};

const sameRowsMeta = {
  description:
    'All channels of a recording have points of the same rows, so that one can be drawn over another. Where the rows are more ' +
    'than `maxPoints`: of each stretch of equal time the first and the last row, and the lowest and the highest row of each channel. ' +
    'Not with `x` or `split`.',
  example: true,
};
type Axes = { x?: string | undefined; split?: string | undefined; sameRows: boolean };
const hasOneForm = ({ x, split, sameRows }: Axes) => !sameRows || (x === undefined && split === undefined);
const formMessage = 'sameRows must not be given with x or split.';

export const statisticsQuerySchema = z.object(windowShape).refine(isInOrder, { error: orderMessage });

const format = z
  .enum(['csv', 'parquet'], { error: 'format must be csv or parquet.' })
  .default('csv')
  .meta({ description: 'The form of the file.', example: 'csv' });

export const exportQuerySchema = z
  .object({ ...windowShape, format })
  .refine(isInOrder, { error: orderMessage });

export const seriesQuerySchema = z
  .object({
    ...windowShape,
    ...axisShape,
    sameRows: booleanParameter().meta(sameRowsMeta),
    maxPoints: integerParameter({
      min: seriesLimits.minPoints,
      max: seriesLimits.maxPoints,
      initial: seriesLimits.initialPoints,
      message: pointsMessage,
    }).meta({ description: 'Maximum number of points of each channel, or of each of its traces.' }),
  })
  .refine(isInOrder, { error: orderMessage })
  .refine(hasOneForm, { error: formMessage });

export const derivedChannelSchema = z.object({
  name: nameText(100),
  unit: optionalText(50).nullable().default(null),
  expression: optionalText(limits.derivedCharacters).meta({
    description:
      `At most ${limits.derivedCharacters} characters and ${limits.derivedNodes} numbers, channels and operations. ` +
      'Channels of one recording by name or key, in `"` where they are more than letters, digits, `_` and `.`; `+ - * / ^`, ' +
      '`< <= > >= == !=` (1 or 0), `abs min max sqrt sin cos atan2`, `if(condition, then, else)`, `integrate(x)` and ' +
      '`differentiate(x)` over seconds from the start of the recording (over rows where it has no time), `lag(x, rows)`. ' +
      'A row is empty where an operand is empty and where the result is no finite number.',
  }),
});

const derivedSchema = z
  .array(derivedChannelSchema, {
    error: `derived must be a list of at most ${limits.derivedChannels} channels.`,
  })
  .max(limits.derivedChannels, { error: `derived must hold at most ${limits.derivedChannels} channels.` })
  .default([])
  .meta({
    description:
      'Answered as `=name`, after the channels, for each recording that has all channels of the expression.',
  });

const questionShape = {
  channels: z
    .array(z.string().min(1).max(600), { error: channelsMessage })
    .max(seriesLimits.channels, { error: channelsMessage })
    .transform((names) => [...new Set(names)])
    .optional()
    .meta({
      type: 'array',
      description: `Keys or names of channels; none where only derived ones are wanted. Default: the first ${seriesLimits.channels} channels.`,
    }),
  from: windowShape.from,
  to: windowShape.to,
  derived: derivedSchema,
};
const asksSomething = ({ channels, derived }: { channels?: unknown[] | undefined; derived: unknown[] }) =>
  channels?.length !== 0 || derived.length > 0;

const questionExample = {
  channels: ['speed'],
  derived: [{ name: 'speed in km/h', unit: 'km/h', expression: 'speed * 3.6' }],
};

export const statisticsQuestionSchema = z
  .object(questionShape)
  .refine(isInOrder, { error: orderMessage })
  .refine(asksSomething, { error: channelsMessage })
  .meta({ id: 'StatisticsQuestion', example: questionExample });

export const exportQuestionSchema = z
  .object({ ...questionShape, format })
  .refine(isInOrder, { error: orderMessage })
  .refine(asksSomething, { error: channelsMessage })
  .meta({ id: 'ExportQuestion', example: { ...questionExample, format: 'csv' } });

export const seriesQuestionSchema = z
  .object({
    ...questionShape,
    ...axisShape,
    sameRows: z.boolean({ error: 'sameRows must be true or false.' }).default(false).meta(sameRowsMeta),
    maxPoints: z
      .int({ error: pointsMessage })
      .min(seriesLimits.minPoints, { error: pointsMessage })
      .max(seriesLimits.maxPoints, { error: pointsMessage })
      .default(seriesLimits.initialPoints)
      .meta({ description: 'Maximum number of points of each channel, or of each of its traces.' }),
  })
  .refine(isInOrder, { error: orderMessage })
  .refine(hasOneForm, { error: formMessage })
  .refine(asksSomething, { error: channelsMessage })
  .meta({ id: 'SeriesQuestion', example: { ...questionExample, x: 'distance', maxPoints: 2000 } });

const derivedMessage = 'Where a function is expected, there is a comma.';
export const invalidDerivedSchema = errorSchema
  .extend({
    errors: z
      .array(
        documentIssueSchema.extend({
          position: z
            .int()
            .optional()
            .meta({ description: 'Characters of the expression before the fault.' }),
        }),
      )
      .optional()
      .meta({ description: 'The faults, where a derived channel has some.' }),
  })
  .meta({
    id: 'InvalidDerived',
    example: {
      message: `$.derived[0].expression, position 7: ${derivedMessage}`,
      errors: [{ path: '$.derived[0].expression', message: derivedMessage, position: 7 }],
    },
  });
