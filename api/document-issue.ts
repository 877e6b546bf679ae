/** One fault of a document that a caller sent, on the wire (decisions 4, 10 and 13). */
import { z } from 'zod';

export const documentIssueSchema = z
  .object({
    path: z.string().meta({ description: 'JSON path of the value.' }),
    message: z.string(),
  })
  .meta({
    id: 'DocumentIssue',
    example: { path: '$.Nodes[1].Parents[0]', message: "No node is named 'tabular-uplaod'." },
  });
