/** Reading the audit of the platform. Written by store/connection/audit-scope.ts. */
import {
  type AuditEntry,
  type AuditFilter,
  type AuditPlace,
  auditPageStatement,
} from '../../domain/access/audit-page.ts';
import type { Database } from '../connection/database.ts';

/** Newest first. @param after the last entry of the page before */
export async function listAudit(
  database: Database,
  filter: AuditFilter,
  after: AuditPlace | null,
  limit: number,
): Promise<AuditEntry[]> {
  const { text, values } = auditPageStatement('audit_entry', filter, after, limit);
  return database.queryUnprepared<AuditEntry & Record<string, unknown>>(text, values);
}
