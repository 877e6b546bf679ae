/** The routes of session templates that their pages use. */
import type {
  SessionTemplate,
  SessionTemplateChanges,
  SessionTemplateImportable,
  SessionTemplateImported,
  SessionTemplateVersion,
  SessionTemplateVersions,
} from '../../../client/types.ts';
import { platform } from '../http.ts';

export type * from '../../../client/types.ts';

/** With its nodes, which the list leaves out. */
export function readTemplate(sessionTemplateId: number, signal: AbortSignal): Promise<SessionTemplate> {
  const params = { sessionTemplateId };
  return platform.call('GET /api/v2/session/session_templates/{sessionTemplateId}', { params, signal });
}

/** The newest first. */
export function listTemplateVersions(
  sessionTemplateId: number,
  query: { page: number; pageSize: number },
  signal: AbortSignal,
): Promise<SessionTemplateVersions> {
  const params = { sessionTemplateId };
  return platform.call('GET /api/v2/session/session_templates/{sessionTemplateId}/versions', {
    params,
    query,
    signal,
  });
}

/** As a definition file. */
export function readTemplateVersion(
  sessionTemplateId: number,
  version: number,
  signal?: AbortSignal,
): Promise<SessionTemplateVersion> {
  const params = { sessionTemplateId, version };
  return platform.call('GET /api/v2/session/session_templates/{sessionTemplateId}/versions/{version}', {
    params,
    signal,
  });
}

/** @param of `since` null: the version before, or of another template its newest */
export function readTemplateChanges(
  sessionTemplateId: number,
  of: { version: number; since: number | null; sinceTemplateId: number | null },
  signal: AbortSignal,
): Promise<SessionTemplateChanges> {
  return platform.call(
    'GET /api/v2/session/session_templates/{sessionTemplateId}/versions/{version}/changes',
    {
      params: { sessionTemplateId, version: of.version },
      query: { since: of.since ?? undefined, sinceTemplateId: of.sinceTemplateId ?? undefined },
      signal,
    },
  );
}

/** @throws {ApiError} 400 with every fault of the definition in its message. */
export function importTemplate(definition: unknown): Promise<SessionTemplateImported> {
  return platform.call('POST /api/v2/admin/session-templates', { document: JSON.stringify(definition) });
}

/** What the import would do; it refuses what the import would refuse. */
export function validateTemplate(definition: unknown): Promise<SessionTemplateImportable> {
  return platform.call('POST /api/v2/admin/session-templates/validate', {
    document: JSON.stringify(definition),
  });
}
