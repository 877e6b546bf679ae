/** Wire forms of the versions of session templates, and of what changed between two. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { templateFields } from '../../domain/templates/template-changes.ts';
import type { JsonObject } from '../../domain/text.ts';
import { idParameter, jsonObjectOut, pageParameters, pathId, timestampOut } from '../../http/schemas.ts';
import { templateChangeSchema, templateParams } from './schema.ts';

export const versionParams = templateParams.extend({
  version: pathId().meta({ description: 'From 1.', example: 2 }),
});

export const versionListQuerySchema = z.object(pageParameters('Versions'));

const head = {
  version: z.int().meta({ description: 'From 1; an import that changes nothing makes none.' }),
  createdAt: timestampOut(),
  createdBy: z
    .object({
      id: z.guid(),
      name: z.string().nullable().meta({ description: 'Null when the caller may not see the person.' }),
    })
    .nullable()
    .meta({ description: 'Null: the platform, or an import of before versions were kept.' }),
};
const headExample = {
  version: 2,
  createdBy: { id: exampleValues.userId, name: 'Petra Lindqvist' },
};
const label = () => z.string().meta({ description: '`TemplateVersion` of the file.' });

export const versionListSchema = z
  .object({
    versions: z.array(
      z
        .object({
          ...head,
          templateVersion: label(),
          description: z.string(),
          nodes: z.int().meta({ description: 'How many nodes.' }),
        })
        .meta({
          id: 'SessionTemplateVersionHead',
          example: { ...headExample, templateVersion: '1.1.0', description: 'Laps of one car.', nodes: 3 },
        }),
    ),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({ id: 'SessionTemplateVersions', example: { page: 1, pageSize: 25, totalCount: 1, totalPages: 1 } });

export const versionSchema = z
  .object({
    ...head,
    definition: z
      .object({
        TemplateVersion: label(),
        Name: z.string(),
        Description: z.string(),
        Configuration: jsonObjectOut(),
        Nodes: z.array(
          z.object({
            Name: z.string(),
            NodeTemplateName: z.string(),
            DefaultConfiguration: jsonObjectOut(),
            Parents: z.array(z.string()),
          }),
        ),
      })
      .meta({
        description: 'As a template definition file, which can be imported again.',
        example: {
          TemplateVersion: '1.1.0',
          Name: 'lap-analysis',
          Description: 'Laps of one car.',
          Configuration: {},
          Nodes: [
            {
              Name: 'tabular-upload',
              NodeTemplateName: 'input-node',
              DefaultConfiguration: { dataSourceName: 'default' },
              Parents: [],
            },
          ],
        },
      }),
  })
  .meta({ id: 'SessionTemplateVersion', example: headExample });

export const changesQuerySchema = z.object({
  since: idParameter('since must be the number of a version.').meta({
    description:
      'The version to compare with. Default: the version before; of `sinceTemplateId`, its newest version.',
    example: 1,
  }),
  sinceTemplateId: idParameter('sinceTemplateId must be a positive integer.').meta({
    description: 'The session template to compare with. Default: this one.',
    example: exampleValues.templateId,
  }),
});

const place = () => z.object({ sessionTemplateId: z.int(), version: z.int() });
const side = () => z.custom<JsonObject | string | null>((value) => value !== undefined);

export const changesSchema = z
  .object({
    ...place().shape,
    since: place()
      .nullable()
      .meta({ description: 'Null: there is no version before, and everything is new.' }),
    fields: z.array(
      z.object({
        field: z.enum(templateFields),
        before: side().meta({
          description: 'A text, or the configuration; null: there is no version before.',
        }),
        after: side().meta({ description: 'In the same form.' }),
      }),
    ),
    nodes: z.array(templateChangeSchema()).meta({
      description:
        'A node of another node template is removed and added. The graph of a template never changes: versions of ' +
        'one template differ in configurations.',
    }),
  })
  .meta({
    id: 'SessionTemplateChanges',
    example: {
      sessionTemplateId: exampleValues.templateId,
      version: 2,
      since: { sessionTemplateId: exampleValues.templateId, version: 1 },
      fields: [{ field: 'templateVersion', before: '1.0.0', after: '1.1.0' }],
      nodes: [
        {
          node: 'tabular-autodetect',
          kind: 'configuration',
          before: { inputFormat: 'auto' },
          after: { inputFormat: 'csv' },
        },
      ],
    },
  });
