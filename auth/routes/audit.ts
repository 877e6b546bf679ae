/** The audit of tokens and accounts. */
import { access } from '../../domain/access/access.ts';
import { auditPageSchema, auditQuerySchema, presentAuditPage } from '../../http/audit-schema.ts';
import { inTimeOrder } from '../../http/schemas.ts';
import { listAudit } from '../audit.ts';
import { defineRoute } from '../route.ts';

export const listAuthAudit = defineRoute({
  id: 'listTokenAudit',
  method: 'GET',
  path: '/api/authorization/audit',
  summary: 'Lists events of tokens and accounts, newest first',
  description:
    'Sign-ins, refused sign-ins (those within the limit on wrong passwords), refreshed, reused and revoked ' +
    'tokens, offline tokens, accounts and passwords. Entries outlive their users. Users are named by ' +
    'id, addresses by their network only.',
  tags: ['Audit'],
  access: access.usersWrite,
  query: inTimeOrder(auditQuerySchema),
  responses: { 200: { description: 'One page.', schema: auditPageSchema } },
  async handler({ query: { cursor, limit, ...filter }, services }) {
    const entries = await listAudit(services.database, filter, cursor ?? null, limit + 1);
    return { status: 200, body: presentAuditPage(entries, limit) };
  },
});
