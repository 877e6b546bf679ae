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
  page: number;
  pageSize: number;
  sortBy: 'date' | 'name';
  sortOrder: 'asc' | 'desc';
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

export interface Progress {
  sessionId: string;
  nodeInstances: NodeInstance[];
  summary: { total: number; counts: Record<string, number>; allSucceeded: boolean; anyFailed: boolean };
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
