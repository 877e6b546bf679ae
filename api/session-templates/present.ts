import type { z } from 'zod';
import type { TemplateRow, TemplateWithNodes } from '../../store/registry/session-templates.ts';
import type { templateSchema } from './schema.ts';

type WireTemplate = z.input<typeof templateSchema>;

/** The list form: without nodes. */
export function presentTemplate({ id, name, description, configuration }: TemplateRow): WireTemplate {
  return { id, name, description, configuration, nodes: [] };
}

/** The one-template form. */
export function presentTemplateWithNodes(template: TemplateWithNodes): WireTemplate {
  return {
    ...presentTemplate(template),
    nodes: template.nodes.map((node) => ({
      id: node.id,
      name: node.name,
      nodeTemplateId: node.nodeTemplateId,
      nodeTemplateName: node.nodeTemplateName,
      nodeTemplateType: node.nodeTemplateType,
      defaultConfiguration: node.defaultConfiguration,
      parentNames: [...node.parentNames],
    })),
  };
}
