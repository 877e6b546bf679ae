/** Wire forms of session templates (contract: Session template). */
import { z } from 'zod';

const nodeTypes = ['Input', 'Transform', 'Processing', 'Aggregation'] as const;

export const templateNodeSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    nodeTemplateId: z.int(),
    nodeTemplateName: z.string().nullable(),
    nodeTemplateType: z.enum(nodeTypes).nullable(),
    defaultConfiguration: z.string().meta({ description: 'A JSON document as text.' }),
    parentNames: z.array(z.string()),
  })
  .meta({ id: 'SessionTemplateNode' });

export const templateSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string(),
    configuration: z.string().meta({ description: 'A JSON document as text, as stored.' }),
    nodes: z.array(templateNodeSchema).meta({ description: 'Empty in lists.' }),
  })
  .meta({ id: 'SessionTemplate' });

export const importedSchema = z
  .object({ id: z.int(), name: z.string(), created: z.boolean() })
  .meta({ id: 'SessionTemplateImported' });

/** What is wrong with the file is said with paths, so the schema only describes it. */
export const templateFileSchema = z.unknown().meta({
  id: 'SessionTemplateFile',
  type: 'object',
  description:
    'A template definition file: TemplateVersion, Name, Description, Configuration (object), Nodes (each Name, NodeTemplateName, DefaultConfiguration, Parents) and updateIfExists. Every fault is answered with its JSON path.',
});
