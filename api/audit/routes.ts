/** Who wrote what, when and from where. */
import { access } from '../../domain/access/access.ts';
import { auditPageSchema, auditQuerySchema, presentAuditPage } from '../../http/audit-schema.ts';
import { inTimeOrder } from '../../http/schemas.ts';
import { listAudit } from '../../store/administration/audit.ts';
import { defineRoute } from '../route.ts';

const list = defineRoute({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v2/admin/audit',
  summary: 'Lists the audit log, newest first',
  description:
    'One entry for each acknowledged write, committed with it, and for each session that retention deleted. The work of ' +
    'runners is recorded in runs, attempts and lineage instead. An entry outlives the object that it names. ' +
    'Users are named by id, addresses by their network only. Sign-ins and other events of tokens and ' +
    'accounts: `GET /api/authorization/audit`.',
  tags: ['Audit'],
  access: access.adminOnly,
  query: inTimeOrder(auditQuerySchema),
  responses: { 200: { description: 'One page.', schema: auditPageSchema } },
  async handler({ query: { cursor, limit, ...filter }, services }) {
    const entries = await listAudit(services.database, filter, cursor ?? null, limit + 1);
    return { status: 200, body: presentAuditPage(entries, limit) };
  },
});

export const auditRoutes = [list];
