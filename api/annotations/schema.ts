/** Wire forms of annotations (additions, section 4). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp, formatTimestampOrNull, parseRecordingTime } from '../../domain/timestamp.ts';
import {
  integerParameter,
  nameText,
  optionalText,
  timestamp,
  timestampOut,
  uuid,
} from '../../http/schemas.ts';
import type { AnnotationFields, AnnotationRow } from '../../store/sessions/annotations.ts';
import { sessionParams } from '../sessions/schema.ts';

export const annotationParams = sessionParams.extend({
  annotationId: uuid().meta({ description: 'The annotation.', example: exampleValues.scenarioInstanceId }),
});

const fields = {
  from: timestamp(parseRecordingTime).meta({
    description:
      'When it begins. In a recording without dates: the time since its start, written as a time since 1970; before its zero, as one before 1970.',
  }),
  to: timestamp(parseRecordingTime)
    .nullish()
    .meta({ description: 'When a range ends; absent or null for a moment.' }),
  label: nameText().meta({ description: 'What people see on the axis.' }),
  text: optionalText().meta({ description: 'More words.' }),
  tags: z
    .array(nameText(limits.annotationTagCharacters))
    .max(limits.annotationTags)
    .meta({ description: `To ${limits.annotationTags}; each once.` }),
  channel: nameText()
    .nullish()
    .meta({ description: 'Name of the channel that it is about; absent or null: of the session.' }),
};

const example = {
  from: exampleValues.startedAt,
  to: exampleValues.processedAt,
  label: 'Brake lock',
  text: 'Front left, into turn 3.',
  tags: ['brakes'],
  channel: 'speed',
};

export const newAnnotationSchema = z
  .object({ ...fields, text: fields.text.default(''), tags: fields.tags.default([]) })
  .refine(({ from, to }) => !to || to >= from, { error: 'must not be before from', path: ['to'] })
  .meta({ id: 'NewAnnotation', example });

export const annotationChangeSchema = z
  .object(fields)
  .partial()
  .meta({ id: 'AnnotationChange', example: { text: 'Front left, into turn 3.' } });

export const annotationSchema = z
  .object({
    id: z.guid(),
    from: timestampOut(),
    to: timestampOut().nullable(),
    label: z.string(),
    text: z.string(),
    tags: z.array(z.string()),
    channel: z.string().nullable(),
    source: z.enum(['person', 'runner']),
    createdBy: z.string().nullable().meta({
      description: 'Id of the person; of what a runner made, the id of the run.',
    }),
    createdByName: z.string().nullable().meta({
      description:
        'Name of the person, where the caller may know it; of what a runner made, the name of its node.',
    }),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'Annotation',
    example: {
      id: exampleValues.scenarioInstanceId,
      ...example,
      source: 'person',
      createdBy: exampleValues.userId,
      createdByName: 'Per Lindqvist',
      createdAt: exampleValues.closedAt,
    },
  });

export const annotationListSchema = z
  .object({
    annotations: z.array(annotationSchema),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({
    id: 'AnnotationList',
    example: { page: 1, pageSize: limits.annotationPageSizeDefault, totalCount: 1, totalPages: 1 },
  });

export const annotationQuerySchema = z.object({
  from: timestamp(parseRecordingTime)
    .optional()
    .meta({ description: 'Only what touches this time or later.' }),
  to: timestamp(parseRecordingTime)
    .optional()
    .meta({ description: 'Only what begins at this time or before.' }),
  label: nameText().optional().meta({ description: 'Only with this label.', example: 'Brake lock' }),
  tag: nameText(limits.annotationTagCharacters)
    .optional()
    .meta({ description: 'Only with this tag.', example: 'brakes' }),
  page: integerParameter({ min: 1, initial: 1 }).meta({ description: 'From 1.', example: 1 }),
  pageSize: integerParameter({
    min: 1,
    max: limits.annotationPageSizeMax,
    initial: limits.annotationPageSizeDefault,
  }).meta({ description: 'Annotations a page.', example: limits.annotationPageSizeDefault }),
});

/** As the store keeps it: each tag once. */
export function annotationFields(annotation: z.output<typeof newAnnotationSchema>): AnnotationFields {
  const { from, to = null, label, text, tags, channel = null } = annotation;
  return { from, to, label, text, tags: [...new Set(tags)], channel };
}

export function presentAnnotation(
  row: AnnotationRow,
  personName: string | null,
): z.input<typeof annotationSchema> {
  const { id, from, to, label, text, tags, channel, createdBy, runId, nodeName, createdAt } = row;
  return {
    id,
    from: formatTimestamp(from),
    to: formatTimestampOrNull(to),
    label,
    text,
    tags: [...tags],
    channel,
    source: runId === null ? 'person' : 'runner',
    createdBy: runId ?? createdBy,
    createdByName: runId === null ? personName : nodeName,
    createdAt: formatTimestamp(createdAt),
  };
}
