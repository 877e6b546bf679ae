/** The shapes of the platform's answers that the console reads. A change of the contract is made here. */

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

export interface DashboardChannel {
  /** `<outputId>:<channelId>`, as the series route takes it. */
  key: string;
  id: string;
  name: string;
  unit: string | null;
  type: string;
  group: string | null;
  realm: string | null;
}

export interface DashboardSource {
  outputId: number;
  name: string;
  realm: string | null;
  /** `relative`: from and to are offsets, written as times since 1970. */
  time: { kind: 'absolute' | 'relative'; from: string | null; to: string | null } | null;
  rowCount: number;
  groups: { id: string; name: string }[];
  channels: DashboardChannel[];
}

export interface DashboardPanel {
  title: string | null;
  group: string | null;
  unit: string | null;
  channels: string[];
}

export interface Dashboard {
  id: number | string;
  title: string;
  sessionId: string;
  sessionName: string;
  dashboardName: string | null;
  dashboardVersion: string | null;
  url: string | null;
  scenarioName: string | null;
  from: string | null;
  to: string | null;
  layout: { version: number; panels: DashboardPanel[] } | null;
  sources: DashboardSource[];
  createdAt: string;
}

export interface ChannelSeries {
  channel: string;
  name: string;
  unit: string | null;
  /** Milliseconds since 1970; for relative time, since the start of the recording. */
  times: number[];
  values: (number | boolean | string | null)[];
}

export interface SeriesReply {
  dimensionId: number | string;
  from: string;
  to: string;
  series: ChannelSeries[];
}

export interface Navigation {
  sections: {
    title: string;
    code: string;
    items: { title: string; icon: string; url: string; code: string }[];
  }[];
}

export interface CatalogDimension {
  id: number;
  name: string;
  title: string;
  sessionId: string;
  sessionName: string;
  projectTitle: string;
  dashboardName: string;
  dashboardVersion: string;
  url: string;
  from: string | null;
  to: string | null;
  scenarioName: string | null;
  createdAt: string;
}

export interface DimensionPage {
  dimensions: CatalogDimension[];
  pageNumber: number;
  totalCount: number;
  totalPages: number;
}

export interface CatalogQuery {
  /** Dates as `2026-03-01`; empty for none. */
  from: string;
  to: string;
  page: number;
  order: 'ascending' | 'descending';
}

export interface ReportCatalog {
  reports: { key: string; name: string }[];
  defaultReport: string;
}

export interface ReportColumn {
  columnKey: string;
  name: string;
  /** CEL over the row. */
  expression: string;
  type: string;
  /** An Excel number format; empty: that of the type. */
  format: string;
  source: string;
}

export interface ReportFilter {
  filterKey: string;
  expression: string;
  value: string | number | boolean | null;
  source: string;
}

export interface ReportDefinition {
  key: string;
  name: string;
  fileName: string;
  dimensionNameFilter: string;
  isDefault: boolean;
  columns: ReportColumn[];
  filters: ReportFilter[];
}

export interface ReportFields {
  key?: string;
  name: string;
  fileName?: string;
  dimensionNameFilter: string;
  setAsDefault: boolean;
  columns: (ReportColumn & { order: number })[];
  filters: ReportFilter[];
}
