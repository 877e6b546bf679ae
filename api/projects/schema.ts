/** Wire forms of projects (contract: Project; decisions 4). */
import { z } from 'zod';
import { roles } from '../../domain/access/access.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { isMetadataPath } from '../../domain/sessions/metadata-keys.ts';
import { bodyId, longText, nameText, optionalText, pathId, timestampOut } from '../../http/schemas.ts';
import { templateExample, templateSchema } from '../session-templates/schema.ts';

const maxRetentionDays = 36_500;

const metadataPath = () =>
  z
    .string()
    .refine(isMetadataPath, {
      error: `must be 1 to ${limits.freeJsonDepthLevels} names, separated by single dots, of at most ${limits.queryPathCharacters} characters`,
    })
    .meta({ type: 'string', minLength: 1, maxLength: limits.queryPathCharacters });

/** The schema of the priority of a project or session. */
export const priorityIn = () => z.int().min(-limits.priorityMax).max(limits.priorityMax);
export const priorityMeaning =
  `-${limits.priorityMax} to ${limits.priorityMax}, at first 0. Those of project and session are added, to at most ` +
  `${limits.priorityMax}; each step moves the session's queued runs by a minute of waiting. A change moves what is queued.`;

export const projectParams = z.object({
  id: pathId().meta({ description: 'The project.', example: exampleValues.projectId }),
});

export const projectRequestSchema = z
  .object({
    Title: nameText(),
    Description: optionalText().nullish(),
    Icon: longText().nullish(),
    OwnerId: bodyId().nullish().meta({
      description: "The platform's id of a person. Default at creation: the caller.",
    }),
    DefaultSessionTemplateId: bodyId().nullish().meta({ description: 'Null: none.' }),
    QueuedIngestion: z.boolean().nullish().meta({
      description: 'True: uploads get 202 and are published from a queue. Default: false.',
    }),
    RetentionDays: z
      .int()
      .min(1)
      .max(maxRetentionDays)
      .nullish()
      .meta({ description: 'Null: sessions are kept forever.' }),
    PinnedMetadata: z
      .array(metadataPath())
      .max(limits.pinnedMetadata)
      .refine((paths) => new Set(paths).size === paths.length, { error: 'must name each path once' })
      .meta({ uniqueItems: true })
      .nullish()
      .meta({ description: 'Paths into the metadata of its sessions, whose values lists of sessions show.' }),
    Priority: priorityIn().nullish().meta({ description: priorityMeaning }),
  })
  .meta({
    id: 'ProjectRequest',
    example: {
      Title: 'Formation training',
      Description: 'Spring course',
      DefaultSessionTemplateId: exampleValues.templateId,
      QueuedIngestion: false,
      RetentionDays: 365,
      PinnedMetadata: ['vehicle.type'],
    },
  });

const commonExample = {
  id: exampleValues.projectId,
  hexId: '9f86d081884c7d65',
  title: 'Formation training',
  description: 'Spring course',
  icon: '',
  ownerId: exampleValues.ownerId,
  defaultSessionTemplateId: exampleValues.templateId,
  defaultSessionTemplate: templateExample,
  queuedIngestion: false,
  retentionDays: 365,
};

const commonFields = {
  id: z.int(),
  hexId: z.string().meta({ description: '16 lowercase hexadecimal digits.' }),
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
    pinnedMetadata: z
      .array(z.string())
      .meta({ description: 'Paths into the metadata of its sessions.', example: ['vehicle.type'] }),
    priority: z.int().meta({ description: priorityMeaning }),
    owner: z
      .object({
        id: z.int(),
        email: z.string().meta({ description: 'Empty when the caller may not see the person.' }),
        type: z.enum(roles),
        isActive: z.boolean().meta({ description: 'True, too, when the caller may not see the person.' }),
        createdAt: timestampOut(),
        externalB2CId: z.string().nullable().meta({ description: 'Null.', example: null }),
        externalPlatformId: z.guid(),
        sessionUsers: z.array(z.never()),
        sessionDimensions: z.array(z.never()),
      })
      .meta({
        example: {
          id: exampleValues.ownerId,
          email: exampleValues.email,
          type: 'Instructor',
          isActive: true,
          externalPlatformId: exampleValues.userId,
        },
      }),
  })
  .meta({ id: 'Project', example: { ...commonExample, pinnedMetadata: ['vehicle.type'], priority: 0 } });

/** As a session shows its project. */
export const sessionProjectSchema = z
  .object({ ...commonFields, owner: z.object({ id: z.int(), name: z.string(), email: z.string() }) })
  .meta({
    id: 'SessionProject',
    example: {
      ...commonExample,
      owner: { id: exampleValues.ownerId, name: 'Petra Lindqvist', email: exampleValues.email },
    },
  });
