/** Wire forms of session templates (contract: Session template). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { templateChangeKinds } from '../../domain/templates/adoption.ts';
import { nodeTemplateTypes } from '../../domain/templates/template-file.ts';
import type { JsonObject } from '../../domain/text.ts';
import { errorSchema } from '../../http/errors.ts';
import { pathId } from '../../http/schemas.ts';
import { documentIssueSchema } from '../document-issue.ts';

export const templateParams = z.object({
  sessionTemplateId: pathId().meta({
    description: 'The session template.',
    example: exampleValues.templateId,
  }),
});

const templateNodeSchema = z
  .object({
    id: z.int().meta({ description: 'Belongs to the template; a session gets its own node instance ids.' }),
    name: z.string(),
    nodeTemplateId: z.int(),
    nodeTemplateName: z.string().nullable().meta({
      description: 'Null when the node template is no longer registered.',
    }),
    nodeTemplateType: z.enum(nodeTemplateTypes).nullable(),
    defaultConfiguration: z.string().meta({ description: 'A JSON document as text.' }),
    parentNames: z.array(z.string()),
  })
  .meta({
    id: 'SessionTemplateNode',
    example: {
      id: 12,
      name: 'tabular-autodetect',
      nodeTemplateId: 2,
      nodeTemplateName: 'system-tabular-to-dataservice',
      nodeTemplateType: 'Transform',
      defaultConfiguration: '{"inputFormat":"auto","emitSuggestedLayout":true}',
      parentNames: ['tabular-upload'],
    },
  });

/** As a list shows it. */
export const templateExample = {
  id: exampleValues.templateId,
  name: exampleValues.templateName,
  description: 'Upload a table; its columns are found and drawn on a dashboard.',
  configuration: '{}',
  nodes: [],
};

export const templateSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string(),
    configuration: z.string().meta({ description: 'A JSON document as text, as stored.' }),
    nodes: z.array(templateNodeSchema).meta({ description: 'Empty in lists.' }),
  })
  .meta({
    id: 'SessionTemplate',
    example: { ...templateExample, nodes: undefined },
  });

/** Free in the description: generators for Java cannot write a list beside an object. */
const side = () => z.custom<JsonObject | readonly string[] | null>((value) => value !== undefined);

/** What becomes of one node: of a session that adopts a template, or from one version of a template to another. */
export const templateChangeSchema = () =>
  z.object({
    node: z.string().meta({ description: 'Name of the node.' }),
    kind: z.enum(templateChangeKinds),
    before: side().meta({
      description: 'The configuration, or of a node with other parents their names; null: no such node.',
    }),
    after: side().meta({ description: 'In the same form; null: the node is removed.' }),
  });

export const importedSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    created: z.boolean().meta({ description: 'False when the template of this name was updated.' }),
    version: z.int().meta({
      description: 'The version that says what the file says: no new one when the file changes nothing.',
    }),
    changed: z.boolean().meta({ description: 'False when the file changes nothing.' }),
  })
  .meta({
    id: 'SessionTemplateImported',
    example: { id: 4, name: 'lap-analysis', created: true, version: 1, changed: true },
  });

export const importableSchema = importedSchema.omit({ id: true }).meta({
  id: 'SessionTemplateImportable',
  example: { name: 'lap-analysis', created: true, version: 1, changed: true },
});

/** A refused file, with all of its faults. */
export const invalidTemplateSchema = errorSchema.extend({ errors: z.array(documentIssueSchema) }).meta({
  id: 'InvalidSessionTemplate',
  example: {
    message: 'The template definition is not valid.',
  },
});

/** Faults of the file are reported with paths by the handler, so the schema only describes it. */
export const templateFileSchema = z.unknown().meta({
  id: 'SessionTemplateFile',
  type: 'object',
  description: 'A template definition file. Every fault is reported with its JSON path.',
  required: ['Name', 'Nodes'],
  properties: {
    $schema: { type: 'string', description: 'Ignored.' },
    TemplateVersion: { type: ['string', 'number'] },
    Name: { type: 'string', minLength: 1, maxLength: limits.nameCharacters },
    Description: { type: 'string', maxLength: limits.descriptionCharacters },
    Configuration: { type: 'object', additionalProperties: true },
    updateIfExists: { type: 'boolean', default: false },
    Nodes: {
      type: 'array',
      minItems: 1,
      maxItems: limits.templateNodes,
      items: {
        type: 'object',
        required: ['Name', 'NodeTemplateName'],
        properties: {
          Name: { type: 'string', description: 'Unique in the template.' },
          NodeTemplateName: { type: 'string', description: 'Name of a registered node template.' },
          DefaultConfiguration: { type: 'object', additionalProperties: true },
          Parents: {
            type: 'array',
            items: { type: 'string' },
            description: 'Names of parent nodes. Only nodes of type Input have none.',
          },
        },
      },
    },
  },
  example: {
    TemplateVersion: '1.0.0',
    Name: 'lap-analysis',
    Description: 'Laps of one car, drawn on a dashboard.',
    Configuration: {},
    Nodes: [
      {
        Name: 'tabular-upload',
        NodeTemplateName: 'input-node',
        DefaultConfiguration: { dataSourceName: 'default' },
        Parents: [],
      },
      {
        Name: 'tabular-autodetect',
        NodeTemplateName: 'system-tabular-to-dataservice',
        DefaultConfiguration: { inputFormat: 'csv', timeColumn: 'time' },
        Parents: ['tabular-upload'],
      },
    ],
    updateIfExists: false,
  },
});
