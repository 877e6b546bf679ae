/** The shapes of the answers that the pages for operators read. */

export interface Runner {
  id: string;
  instanceId: string;
  kind: 'token' | 'account';
  tokenLabel: string | null;
  tokenHint: string | null;
  runnerTypes: string[];
  hosting: 'deployed' | 'external';
  version: string | null;
  lastSeenAt: string;
  drained: boolean;
  task: {
    sessionId: string;
    nodeInstanceId: number;
    nodeName: string;
    attempt: number;
    claimedAt: string;
    phase: string | null;
  } | null;
}

/** A runner type of runtime `sdk`, whose processes the platform starts. */
export interface DeployedRunner {
  runnerType: string;
  /** Null: the manifest names none, so nothing is started. */
  entrypoint: string | null;
  processes: {
    number: number;
    state: 'starting' | 'running' | 'waiting' | 'stopping' | 'silent';
    message: string;
    starts: number;
    changedAt: string;
  }[];
}

/** What a feature has published. */
export interface Feature {
  name: string;
  version: string;
  publishedAt: string;
  runnerTypes: {
    name: string;
    runtime: 'sdk' | 'external';
    entrypoint: string | null;
    description: string;
    retired: boolean;
  }[];
  nodeTemplates: { name: string; runnerType: string; type: string; description: string; retired: boolean }[];
  /** Of the feature that was asked for alone. */
  manifest: Record<string, unknown> | null;
}

export interface ManifestReply {
  published: boolean;
  runnerTypes: string[];
  templates: string[];
  errors: { path: string; message: string }[];
  warnings: { path: string; message: string }[];
}

export interface RunnerPage {
  runners: Runner[];
  deployed: DeployedRunner[];
  page: number;
  totalCount: number;
  totalPages: number;
}

export interface RunnerToken {
  id: string;
  label: string;
  runnerTypes: string[];
  scopes: string[];
  createdAt: string;
  expiresAt: string;
  lastUsedAt: string | null;
  revoked: boolean;
  tokenHint: string;
}

export interface NewRunnerToken {
  runnerTypes: string[];
  scopes: string[];
  ttlHours: number;
  label: string;
}

export interface OfflineToken {
  secretId: string;
  username: string;
  expiresAt: string;
  lastUsedAt: string | null;
  revoked: boolean;
  tokenHint: string;
}

/** A token's value: it is shown when the token is made and never again. */
export interface MadeToken {
  token: string;
  expiresAt: string;
}

export interface TemplateNode {
  id: number;
  name: string;
  nodeTemplateName: string | null;
  nodeTemplateType: string | null;
  defaultConfiguration: string;
  parentNames: string[];
}

export interface SessionTemplate {
  id: number;
  name: string;
  description: string;
  nodes: TemplateNode[];
}

export interface Project {
  id: number;
  hexId: string;
  title: string;
  description: string;
  icon: string;
  defaultSessionTemplateId: number | null;
  queuedIngestion: boolean;
  retentionDays: number | null;
  createdAt: string;
}

export interface IngestFields {
  urlPath: string;
  projectId: number;
  sessionTemplateId: number;
  inputNode: string;
  dataSource: string;
  creationBehaviour: string;
  ingestDataType: string;
  allowAnonymous: boolean;
}

export interface Ingest extends IngestFields {
  id: number;
  url: string;
  secretHint: string;
  createdAt: string;
}

export interface Account {
  userId: string;
  username: string;
  firstName: string;
  lastName: string;
  title: string;
  company: string;
  email: string;
  role: string;
  isActive: boolean;
  forceChangePasswordNextSignin: boolean;
}

export interface AccountPage {
  users: Account[];
  page: number;
  totalCount: number;
  totalPages: number;
}

export interface ConfigurationEntry {
  id: number;
  name: string;
  /** 0 string, 1 integer, 2 number, 3 bool, 4 JSON. */
  valueType: number;
  value: string;
  description: string;
  updatedAt: string;
}
