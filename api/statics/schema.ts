/** Wire forms of system dashboards (contract: Dashboard items; decisions 12). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { int32, longText, nameText, timestampOut, uuid } from '../../http/schemas.ts';

const codeForm = /^[a-z0-9]+([._-][a-z0-9]+)*$/;

/** A code of a static or of its section. */
const code = () =>
  z.string().max(64).regex(codeForm, {
    error: 'A code must hold 1 to 64 lowercase letters, digits and single `-`, `_` or `.` between them.',
  });

export const staticParams = z.object({
  code: code().meta({ description: 'The system dashboard.', example: 'fleet-overview' }),
});
export const staticInstanceParams = staticParams.extend({
  sessionId: uuid().meta({ description: 'The session that backs it.', example: exampleValues.sessionId }),
});

const fields = {
  code: code(),
  title: nameText(),
  icon: longText().default(''),
  order: int32().default(0),
  sectionCode: code(),
  sectionTitle: nameText(),
  scopeKind: z
    .literal([0, 1, 2])
    .meta({ description: '0 global, 1 for each project, 2 for each user. The sidebar shows global ones.' }),
};

const example = {
  code: 'fleet-overview',
  title: 'Fleet overview',
  icon: 'dashboards',
  order: 10,
  sectionCode: 'overview',
  sectionTitle: 'Overview',
  scopeKind: 0,
} as const;

export const newStaticSchema = z.object(fields).meta({ id: 'NewStatic', example });

export const staticSchema = z
  .object({
    id: z.int(),
    code: z.string(),
    title: z.string(),
    icon: z.string(),
    order: z.int(),
    sectionCode: z.string(),
    sectionTitle: z.string(),
    scopeKind: z.int(),
    createdAt: timestampOut(),
    instances: z
      .array(z.object({ id: z.int(), sessionId: z.guid(), createdAt: timestampOut() }))
      .meta({ description: 'The sessions that back it; session lists do not show them.' }),
  })
  .meta({
    id: 'Static',
    example: {
      id: 1,
      ...example,
      createdAt: exampleValues.startedAt,
      instances: [{ id: 1, sessionId: exampleValues.sessionId, createdAt: exampleValues.startedAt }],
    },
  });

export const newInstanceSchema = z
  .object({ sessionId: uuid() })
  .meta({ id: 'NewStaticInstance', example: { sessionId: exampleValues.sessionId } });
