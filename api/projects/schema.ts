/** Wire forms of projects (contract: Project; decisions 4). */
import { z } from 'zod';
import { roles } from '../../domain/access.ts';
import { bodyId, longText, nameText, optionalText, timestampOut } from '../../http/schemas.ts';
import { templateSchema } from '../session-templates/schema.ts';

const maxRetentionDays = 36_500;

export const projectRequestSchema = z.object({
  Title: nameText(),
  Description: optionalText().nullish(),
  Icon: longText().nullish(),
  OwnerId: bodyId().nullish().meta({ description: 'Default: the caller.' }),
  DefaultSessionTemplateId: bodyId().nullish(),
  QueuedIngestion: z.boolean().nullish(),
  RetentionDays: z
    .int()
    .min(1)
    .max(maxRetentionDays)
    .nullish()
    .meta({ description: 'Null keeps sessions for ever.' }),
});

const commonFields = {
  id: z.int(),
  hexId: z.string(),
  title: z.string(),
  description: z.string(),
  icon: z.string(),
  ownerId: z.int(),
  defaultSessionTemplateId: z.int().nullable(),
  defaultSessionTemplate: templateSchema.nullable(),
  queuedIngestion: z.boolean(),
  retentionDays: z.int().nullable(),
  createdAt: timestampOut(),
};

export const projectSchema = z
  .object({
    ...commonFields,
    owner: z.object({
      id: z.int(),
      email: z.string().meta({ description: 'Empty where the caller may not see the person.' }),
      type: z.enum(roles),
      isActive: z.boolean(),
      createdAt: timestampOut(),
      externalB2CId: z.null(),
      externalPlatformId: z.guid(),
      sessionUsers: z.array(z.never()),
      sessionDimensions: z.array(z.never()),
    }),
  })
  .meta({ id: 'Project' });

/** As a session shows its project. */
export const sessionProjectSchema = z
  .object({ ...commonFields, owner: z.object({ id: z.int(), name: z.string(), email: z.string() }) })
  .meta({ id: 'SessionProject' });
