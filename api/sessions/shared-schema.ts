/** Wire forms of shared sessions (contract: Shared session request; decisions 5, 6). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { isEmail } from '../../domain/text.ts';
import { bodyId, int32, nameText, optionalText, timestamp, timestampOut } from '../../http/schemas.ts';
import { sessionExample, sessionSchema } from './schema.ts';

const emailError = 'must be an email address';

export const sharedSessionQuerySchema = z.object({
  projectId: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, { error: 'must be a positive integer' })
    .transform(Number)
    .refine((value) => value <= limits.maxId, { error: 'must be a positive integer' })
    .meta({
      type: 'integer',
      minimum: 1,
      description: 'The project of the session.',
      example: exampleValues.projectId,
    }),
});

export const sharedSessionRequestSchema = z
  .object({
    name: nameText(),
    simulationName: nameText(),
    email: z
      .string()
      .transform((value) => value.trim())
      .refine(isEmail, { error: emailError })
      .meta({ description: 'Address of the participant.' }),
    sessionTemplateId: bodyId(),
    startTimeUtc: timestamp().meta({ description: "Start of this participant's capture." }),
    machineGroup: int32().meta({ description: 'Shared by the machines of one exercise.' }),
    timeWindowSeconds: z
      .number()
      .int()
      .min(1)
      .max(limits.timeWindowSecondsMax)
      .nullish()
      .transform((value) => value ?? limits.timeWindowSecondsDefault)
      .meta({ description: `Length of the window. Default: ${limits.timeWindowSecondsDefault}.` }),
  })
  .meta({
    id: 'SharedSessionRequest',
    example: {
      name: exampleValues.sessionName,
      simulationName: exampleValues.simulationName,
      email: exampleValues.email,
      sessionTemplateId: exampleValues.templateId,
      startTimeUtc: exampleValues.startedAt,
      machineGroup: 7,
      timeWindowSeconds: 300,
    },
  });

/** The camelCase session, but for the key of its nodes. */
export const sharedSessionSchema = sessionSchema
  .omit({ nodeInstances: true })
  .extend({ node_instances: sessionSchema.shape.nodeInstances })
  .meta({
    id: 'SharedSession',
    example: {
      ...sessionExample,
      metadata: {
        status: 'open',
        startTimeUtc: exampleValues.startedAt,
        timeWindowSeconds: 300,
        machineGroup: 7,
        openedBy: exampleValues.email,
        participants: [
          {
            id: exampleValues.userId,
            email: exampleValues.email,
            startTimeUtc: exampleValues.startedAt,
            joinedAt: '2026-03-01T10:00:01.250Z',
          },
        ],
      },
    },
  });

export const closeRequestSchema = z
  .object({
    email: z
      .string()
      .transform((value) => value.trim())
      .refine((value) => value === '' || isEmail(value), { error: emailError })
      .nullish()
      .transform((value) => value || undefined)
      .meta({ description: 'Address of the participant who closes. Default: the caller.' }),
    reason: optionalText(limits.closeReasonCharacters).nullish(),
    closeAt: timestamp()
      .nullish()
      .meta({ description: "From the session's start to 24 hours ahead. Default: now." }),
  })
  .prefault({})
  .meta({
    id: 'CloseRequest',
    example: { email: exampleValues.email, reason: 'The exercise is over.', closeAt: exampleValues.closedAt },
  });

export const closeResultSchema = z
  .object({
    id: z.guid(),
    status: z.literal('closed'),
    participantCount: z.int(),
    closedAt: timestampOut(),
    closedBy: z
      .string()
      .meta({ description: 'The address if the caller may see the person, else an identifier.' }),
  })
  .meta({
    id: 'CloseResult',
    example: {
      id: exampleValues.sessionId,
      participantCount: 2,
      closedAt: exampleValues.closedAt,
      closedBy: exampleValues.email,
    },
  });
