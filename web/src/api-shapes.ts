/** The shapes of the platform's answers about sessions and their nodes. A change of the contract is made here. */

export interface SessionRow {
  id: string;
  name: string;
  simulationName: string | null;
  projectId: number;
  projectTitle: string;
  sessionTemplateId: number;
  sessionTemplateName: string;
  createdAt: string;
  metadata: Record<string, unknown> | null;
}

export interface SessionPage {
  sessions: SessionRow[];
  page: number;
  pageSize: number;
  totalCount: number;
  totalPages: number;
}

export interface SessionListQuery {
  search: string;
  /** Null: any. */
  projectId: number | null;
  sessionTemplateId: number | null;
  page: number;
  pageSize: number;
  sortBy: 'date' | 'name';
  sortOrder: 'asc' | 'desc';
}

/** A session as a query finds it. */
export interface FoundSession {
  id: string;
  name: string;
  email: string;
  projectId: number;
  sessionTemplateId: number;
  simulationName: string | null;
  createdAt: string;
  metadataJson: string | null;
}

export interface FoundSessions {
  sessions: FoundSession[];
  totalCount: number;
  limit: number;
  offset: number;
}

export interface SessionDimension {
  id: number | string;
  name: string;
  dashboardName: string | null;
  dashboardVersion: string | null;
  nodeInstanceId: number | null;
  url: string | null;
  createdAt: string;
}

export interface Session {
  id: string;
  name: string;
  email: string | null;
  projectId: number;
  project: { id?: number; title: string } | null;
  sessionTemplateId: number;
  sessionTemplate: { id?: number; name: string } | null;
  simulationName: string | null;
  dimensions: SessionDimension[];
  metadata: Record<string, unknown> | null;
  createdAt: string;
}

export interface NodeInstance {
  id: number;
  name: string;
  nodeTemplateId: number;
  nodeTemplateName: string | null;
  state: string;
  stateCode: number;
  statusDetails: string | null;
  lastProcessed: string | null;
  currentOutputId: number | null;
  parentIds: number[];
}

/** Whether a session takes part in anything, and for shared sessions when and with how many people. */
export interface SessionWindow {
  frozen: boolean;
  status: 'open' | 'closed';
  startTimeUtc: string | null;
  endTimeUtc: string | null;
  closedAt: string | null;
  closeReason: string | null;
  participantCount: number;
}

export interface Explanation {
  nodeInstanceId: number;
  why: string;
  /** Times in it are written as ISO 8601. */
  sentence: string;
  facts: {
    openRun: { attempt: number; maxAttempts: number } | null;
    lastRun: { attempt: number; maxAttempts: number; outcome: string } | null;
  };
}

export interface RunAttempt {
  number: number;
  startedAt: string | null;
  endedAt: string | null;
  outcome: string | null;
  category: string | null;
  reason: string;
  nextAttemptAt: string | null;
}

export interface NodeRun {
  id: string;
  nodeInstanceId: number;
  state: string;
  reason: string;
  attempt: number;
  maxAttempts: number;
  cancelRequested: boolean;
  retryable: boolean;
  createdAt: string;
  heldBy: { instanceId: string; leaseExpiresAt: string } | null;
  attempts: RunAttempt[];
}

export interface Lineage {
  outputId: number;
  sha256: string | null;
  configuration: string;
  nodeTemplate: { name: string; runnerType: string; feature: string | null; featureVersion: string | null };
  source: 'upload' | 'run';
  run: { id: string; reason: string; attempt: number; maxAttempts: number } | null;
  isRecorded: boolean;
  runner: { kind: string; instanceId: string; label: string | null; version: string | null } | null;
  inputs: {
    outputId: number;
    nodeInstanceId: number;
    nodeName: string;
    outputIdentifier: string;
    sizeBytes: number;
    isNew: boolean;
  }[];
}

export interface NodeOutput {
  id: number;
  nodeInstanceId: number;
  createdAt: string;
  outputIdentifier: string | null;
  contentType?: string | null;
  contentEncoding?: string | null;
  sizeBytes?: number | null;
  sha256?: string | null;
  metadata?: Record<string, unknown> | null;
}
