/** Wire forms of audits: the platform's and the authentication service's. */
import { z } from 'zod';
import { auditActorKinds, auditObjects } from '../domain/access/audit.ts';
import { type AuditEntry, type AuditPlace, formatPlace, parsePlace } from '../domain/access/audit-page.ts';
import { exampleValues } from '../domain/examples.ts';
import { limits } from '../domain/limits.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { integerParameter, timestamp, timestampOut, uuid } from './schemas.ts';

const word = (description: string, example: string) =>
  z
    .string()
    .regex(/^[\w.:@-]{1,200}$/, { error: 'must be an id of up to 200 letters, digits and _ . : @ -' })
    .optional()
    .meta({ description, example });

export const auditQuerySchema = z.object({
  from: timestamp().optional().meta({ description: 'Entries from this time on.' }),
  to: timestamp()
    .optional()
    .meta({ description: 'Entries before this time.', example: exampleValues.closedAt }),
  action: word('The id of an operation of this document, or an action of the platform.', 'uploadNodeOutput'),
  actorId: word('The id of a user, a runner token or a managed ingest.', exampleValues.userId),
  objectType: z.enum(auditObjects).optional().meta({ description: 'The type of the written object.' }),
  objectId: word('Its id, or its name if it has no id.', String(exampleValues.inputNodeId)),
  sessionId: uuid().optional().meta({ description: 'Writes to this session.' }),
  cursor: z
    .string()
    .transform((text, context): AuditPlace => {
      const place = parsePlace(text);
      if (place !== null) return place;
      context.addIssue({ code: 'custom', message: 'must be the `nextCursor` of a page', input: text });
      return z.NEVER;
    })
    .optional()
    .meta({
      type: 'string',
      description: 'The `nextCursor` of the page before.',
      example: '1772360652345-81',
    }),
  limit: integerParameter({ min: 1, max: limits.auditPageMax, initial: limits.auditPageDefault }).meta({
    description: 'Entries per page.',
  }),
});

export const auditPageSchema = z
  .object({
    entries: z.array(
      z
        .object({
          id: z.int(),
          at: timestampOut(),
          action: z.string(),
          actor: z.object({
            kind: z.enum(auditActorKinds).meta({
              description:
                '`user`: a person. `device`: an offline token. `ingest`: a caller of a managed ingest. `platform`: ' +
                'the platform itself.',
            }),
            id: z.string().nullable(),
            role: z.string().nullable().meta({ description: 'The role at that time.' }),
          }),
          object: z.object({ type: z.string(), id: z.string().nullable() }),
          sessionId: z.guid().nullable(),
          requestId: z.string().nullable(),
          network: z
            .string()
            .nullable()
            .meta({ description: 'Network of the address: /24 of IPv4, /48 of IPv6.' }),
        })
        .meta({
          id: 'AuditEntry',
          example: {
            id: 81,
            at: exampleValues.processedAt,
            action: 'uploadNodeOutput',
            actor: { kind: 'user', id: exampleValues.userId, role: 'Instructor' },
            object: { type: 'nodeInstance', id: String(exampleValues.inputNodeId) },
            sessionId: exampleValues.sessionId,
            requestId: 'c1b6a6e8-8a0e-4c0e-9a39-0a5a4c7d8c11',
            network: '192.0.2.0/24',
          },
        }),
    ),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  })
  .meta({ id: 'AuditPage', example: { nextCursor: '1772360652345-81' } });

/** @param entries one more than `limit` when there are more */
export function presentAuditPage(
  entries: readonly AuditEntry[],
  limit: number,
): z.input<typeof auditPageSchema> {
  const shown = entries.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map((entry) => ({
      id: entry.id,
      at: formatTimestamp(entry.at),
      action: entry.action,
      actor: { kind: entry.actorKind, id: entry.actorId, role: entry.actorRole },
      object: { type: entry.objectType, id: entry.objectId },
      sessionId: entry.sessionId,
      requestId: entry.requestId,
      network: entry.network,
    })),
    nextCursor: entries.length > limit && last !== undefined ? formatPlace(last) : null,
  };
}
