/** The address of the workflow UI for operators: the console links each session to its workflow. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { defineRoute } from '../route.ts';

const workflowUiSchema = z
  .object({
    url: z
      .string()
      .nullable()
      .meta({ description: 'Address of the Temporal UI; null when `TEMPORAL_UI_URL` is not set.' }),
    namespace: z.string(),
  })
  .meta({ id: 'WorkflowUi', example: { url: 'http://127.0.0.1:8233', namespace: 'default' } });

const read = defineRoute({
  id: 'getWorkflowUi',
  method: 'GET',
  path: '/api/v2/admin/workflow-ui',
  summary: 'Returns the address of the Temporal UI',
  description:
    "The workflow of a session is `session-<id>` and that of a shared session's window `window-<id>`, in this namespace.",
  tags: ['Sessions'],
  access: access.admin,
  responses: { 200: { description: 'Its address and the namespace.', schema: workflowUiSchema } },
  async handler({ services: { settings, workflows } }) {
    return {
      status: 200,
      body: {
        url: settings.TEMPORAL_UI_URL?.replace(/\/+$/, '') ?? null,
        namespace: workflows.namespace,
      },
    };
  },
});

export const workflowUiRoutes = [read];
