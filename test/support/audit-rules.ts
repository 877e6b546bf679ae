/** What the audit says of each route that is no GET, by the route's id: one table, as the routes say it. */
import { routes } from '../../api/routes.ts';
import type { AuditRule } from '../../domain/access/audit.ts';

export const auditRules: Readonly<Record<string, AuditRule>> = Object.fromEntries(
  routes.flatMap(({ id, method, audit }) => (method === 'GET' || audit === undefined ? [] : [[id, audit]])),
);
