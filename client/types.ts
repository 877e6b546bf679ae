/**
 * Requests and replies of the platform, made from its OpenAPI document. Do not edit: `npm run generate:client` writes
 * this file anew. Times are ISO 8601 in UTC. A reply may gain fields within a version of the interface.
 */

export interface ProjectRequest {
  readonly Title: string;
  readonly Description?: string | null | undefined;
  readonly Icon?: string | null | undefined;
  /** The platform's own id of a person. Default when a project is made: the caller. */
  readonly OwnerId?: number | null | undefined;
  /** Null: none. */
  readonly DefaultSessionTemplateId?: number | null | undefined;
  /** Whether uploads are answered with 202 and published from a queue. Default: false. */
  readonly QueuedIngestion?: boolean | null | undefined;
  /** Null keeps sessions for ever. */
  readonly RetentionDays?: number | null | undefined;
}

/** A template definition file. Every fault is answered with its JSON path. */
export interface SessionTemplateFile {
  /** Not looked at. */
  readonly $schema?: string | undefined;
  readonly TemplateVersion?: string | number | undefined;
  readonly Name: string;
  readonly Description?: string | undefined;
  readonly Configuration?: Readonly<Record<string, unknown>> | undefined;
  readonly updateIfExists?: boolean | undefined;
  readonly Nodes: readonly {
    /** Unique in the template. */
    readonly Name: string;
    /** A registered node template. */
    readonly NodeTemplateName: string;
    readonly DefaultConfiguration?: Readonly<Record<string, unknown>> | undefined;
    /** Names of parent nodes. Nodes of type Input have none, and only they. */
    readonly Parents?: readonly string[] | undefined;
  }[];
}

/**
 * What a feature registers. A higher or equal version of the same feature updates it. Every fault is answered
 * with its JSON path.
 */
export interface RunnerManifest {
  readonly manifestVersion: 1;
  readonly feature: {
    readonly name: string;
    /** Compared as Semantic Versioning has it. */
    readonly version: string;
    readonly ownershipType: 'ThirdParty';
  };
  readonly runnerTypes: readonly {
    readonly name: string;
    /** `sdk`: started by the platform. */
    readonly runtime: 'sdk' | 'external';
    /**
     * Of runtime `sdk`: name of a module in the folder of deployed runners, which exports a runner by default.
     * One that leads out of the folder is refused; one that is not there yet is worth a warning.
     */
    readonly entrypoint?: string | undefined;
    readonly description?: string | undefined;
  }[];
  readonly nodeTemplates?: readonly {
    readonly name: string;
    /** A runner type of this manifest. */
    readonly runnerType: string;
    readonly type: 'Input' | 'Transform' | 'Processing' | 'Aggregation';
    readonly description?: string | undefined;
    /** JSON Schema 2020-12, inline: no `$ref`. Held against node configurations. */
    readonly configurationSchema: Readonly<Record<string, unknown>>;
    /** Whose outputs make the node run. */
    readonly trigger?: 'all' | 'any' | undefined;
    readonly incremental?: boolean | undefined;
    readonly reprocess?: 'latest' | 'all' | undefined;
    readonly maxAttempts?: number | undefined;
    readonly timeoutSeconds?: number | undefined;
    readonly leaseSeconds?: number | undefined;
  }[] | undefined;
}

export interface SessionRequest {
  readonly ProjectId: number;
  readonly SessionTemplateId: number;
  /** Address of the participant. Default: the caller's own. */
  readonly Email?: string | null | undefined;
  /** Default: the template's name and the time. */
  readonly Name?: string | null | undefined;
  readonly SimulationName?: string | null | undefined;
  /** Addresses in `openedBy`, `closedBy` and `participants` are stored as identifiers. */
  readonly Metadata?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface SessionUpdate {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly simulation_name?: string | null | undefined;
  /** Can change only while nothing has come to any node of the session. */
  readonly session_template_id?: number | null | undefined;
  readonly project_id?: number | null | undefined;
  /** Replaces the caller's part. What belongs to the platform stays as it is. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface SharedSessionRequest {
  readonly name: string;
  readonly simulationName: string;
  /** Address of the participant. */
  readonly email: string;
  readonly sessionTemplateId: number;
  /** Start of this participant's capture. */
  readonly startTimeUtc: string;
  /** Machines of one exercise share it. */
  readonly machineGroup: number;
  /** Length of the window. Default: 300. */
  readonly timeWindowSeconds?: number | null | undefined;
}

export interface CloseRequest {
  /** Address of who closes. Default: the caller. */
  readonly email?: string | null | undefined;
  readonly reason?: string | null | undefined;
  /** From the session's start to 24 hours ahead. Default: now. */
  readonly closeAt?: string | null | undefined;
}

/**
 * `filter`: a node {path, op, value}, {and: [...]} or {or: [...]}; at most 100 conditions and 10 levels. A
 * path is a session property (id, name, email, projectId, sessionTemplateId, simulationName, logoUrl, userId,
 * createdAt) or a dot-notation path into the metadata as shown. Operators: eq and ne; gt, gte, lt, lte for
 * numbers and times; contains, startsWith, endsWith for text; metadata take all of these, in (a list of
 * values) and exists (true or false). Metadata compare by the type of the value: numbers with numbers, text
 * with text. contains finds an element of a list too. eq null also matches what is missing; ne is what eq is
 * not. An address as a value of email, openedBy, closedBy or participants means the person. `orderBy`: {path,
 * direction}; of metadata numbers come first, then texts, then truth values, and what is missing last; ties
 * and the default: newest first.
 */
export interface SessionQueryRequest {
  readonly filter?: Readonly<Record<string, unknown>> | undefined;
  readonly orderBy?: readonly {
    readonly path: string;
    readonly direction?: 'asc' | 'desc' | undefined;
  }[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface ScenarioRequest {
  readonly scenarioName: string;
  readonly simulationId?: string | null | undefined;
  /** Of a scenario to change. Default: a new one. */
  readonly scenarioInstanceId?: string | null | undefined;
  readonly from?: string | null | undefined;
  /** Not before `from`. */
  readonly to?: string | null | undefined;
}

export interface IngestRequest {
  /** Path of the ingest: 1 to 8 segments of `a-z`, `0-9`, `-`, `_`. */
  readonly urlPath: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  /** Name of an Input node of the session template. */
  readonly inputNode: string;
  /** Where the bytes go, whatever the node’s configuration names. */
  readonly dataSource?: string | undefined;
  /**
   * NewSession: each upload makes a session. LatestSession: it feeds the newest session of the project and
   * template that is neither frozen nor closed, and makes one when there is none.
   */
  readonly creationBehaviour?: 'NewSession' | 'LatestSession' | undefined;
  /** What Content-Types are taken in; others get 415. */
  readonly ingestDataType?: 'Csv' | 'Json' | 'Binary' | 'Any' | undefined;
  /** Whether uploads need no secret. Keep it off beyond trials. */
  readonly allowAnonymous?: boolean | undefined;
}

export interface IngestChange {
  readonly urlPath?: string | null | undefined;
  readonly projectId?: number | null | undefined;
  readonly sessionTemplateId?: number | null | undefined;
  readonly inputNode?: string | null | undefined;
  readonly dataSource?: string | null | undefined;
  readonly creationBehaviour?: 'NewSession' | 'LatestSession' | null | undefined;
  readonly ingestDataType?: 'Csv' | 'Json' | 'Binary' | 'Any' | null | undefined;
  readonly allowAnonymous?: boolean | null | undefined;
}

export interface ConfigurationRequest {
  /** Letters, digits, `_`, `-`, `.`, in segments with colons between them. */
  readonly name: string;
  /** 0 string, 1 integer, 2 number, 3 bool, 4 JSON. */
  readonly valueType?: 0 | 1 | 2 | 3 | 4 | undefined;
  /** A text of at most 64 KB that can be read as its type. */
  readonly value: string;
  readonly description?: string | null | undefined;
}

export interface ConfigurationChange {
  /** Another name than that of the path renames. */
  readonly name?: string | null | undefined;
  readonly valueType?: 0 | 1 | 2 | 3 | 4 | null | undefined;
  readonly value?: string | null | undefined;
  readonly description?: string | null | undefined;
}

export interface ReportChange {
  readonly name?: string | undefined;
  readonly configurationKey?: string | undefined;
  readonly fileName?: string | undefined;
  readonly dimensionNameFilter?: string | undefined;
  readonly setAsDefault?: boolean | undefined;
  readonly columns?: readonly {
    readonly columnKey: string;
    readonly name: string;
    /** CEL over the row, see the description of the route. */
    readonly expression: string;
    readonly type?: 'string' | 'number' | 'boolean' | 'date' | 'duration' | undefined;
    /** An Excel number format; empty: that of the type. */
    readonly format?: string | undefined;
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
    /** Default: the place in the list. */
    readonly order?: number | undefined;
  }[] | undefined;
  readonly filters?: readonly {
    readonly filterKey: string;
    readonly expression: string;
    /** Rows for which the expression equals this stay. */
    readonly value: string | number | boolean | null;
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
  }[] | undefined;
  /**
   * True: columns and filters that a list leaves out are removed. False: those in the list are changed or
   * added.
   */
  readonly replaceConfiguration?: boolean | undefined;
}

export interface NewReport {
  readonly key: string;
  readonly name: string;
  readonly configurationKey?: string | undefined;
  readonly fileName?: string | undefined;
  readonly dimensionNameFilter?: string | undefined;
  readonly setAsDefault?: boolean | undefined;
  readonly columns: readonly {
    readonly columnKey: string;
    readonly name: string;
    /** CEL over the row, see the description of the route. */
    readonly expression: string;
    readonly type?: 'string' | 'number' | 'boolean' | 'date' | 'duration' | undefined;
    /** An Excel number format; empty: that of the type. */
    readonly format?: string | undefined;
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
    /** Default: the place in the list. */
    readonly order?: number | undefined;
  }[];
  readonly filters?: readonly {
    readonly filterKey: string;
    readonly expression: string;
    /** Rows for which the expression equals this stay. */
    readonly value: string | number | boolean | null;
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
  }[] | undefined;
}

export interface NewStatic {
  readonly code: string;
  readonly title: string;
  readonly icon?: string | undefined;
  readonly order?: number | undefined;
  readonly sectionCode: string;
  readonly sectionTitle: string;
  /** 0 global, 1 for each project, 2 for each user. The sidebar shows global ones. */
  readonly scopeKind: 0 | 1 | 2;
}

export interface NewStaticInstance {
  readonly sessionId: string;
}

export interface DataSourceRequest {
  /** What `dataSourceName` of a node names. */
  readonly name: string;
  readonly kind?: 's3' | undefined;
  readonly endpoint: string;
  readonly region?: string | undefined;
  readonly bucket: string;
  /** Put before every key. */
  readonly prefix?: string | undefined;
  readonly accessKeyId: string;
  /** Goes in and never comes out. */
  readonly secretAccessKey: string;
  /** True: the bucket stands in the path; false: in the host name. */
  readonly forcePathStyle?: boolean | undefined;
}

export interface DataSourceChange {
  /** That of the path: a data source keeps its name. */
  readonly name?: string | undefined;
  readonly kind?: 's3' | undefined;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly bucket?: string | undefined;
  /** Put before every key. */
  readonly prefix?: string | undefined;
  readonly accessKeyId?: string | undefined;
  /** Goes in and never comes out. */
  readonly secretAccessKey?: string | undefined;
  /** True: the bucket stands in the path; false: in the host name. */
  readonly forcePathStyle?: boolean | undefined;
}

export interface RunnerTokenRequest {
  readonly runnerTypes: readonly string[];
  /** Default: `tasks` alone. */
  readonly scopes?: readonly ('tasks' | 'debug:read')[] | null | undefined;
  /** 1 to 720 for Developers, to 8760 for Administrators; default 720. */
  readonly ttlHours?: number | null | undefined;
  /** For people: where the token is used. */
  readonly label?: '' | string | null | undefined;
}

export interface RunnerClaimRequest {
  /** Names the instance of the runner: one holds one task at a time. */
  readonly instanceId: string;
  /** Names of node templates; absent or empty: all that the token may claim. */
  readonly templates?: readonly string[] | null | undefined;
  /** How long to wait for a task when none is ready. */
  readonly waitSeconds?: number | undefined;
}

export interface RunnerHeartbeatRequest {
  readonly phase?: string | null | undefined;
  readonly message?: string | null | undefined;
  readonly progress?: {
    readonly done: number;
    readonly total?: number | null | undefined;
    readonly unit?: string | null | undefined;
  } | null | undefined;
}

export interface RunnerWatermarkRequest {
  /** Id of the last input that is fully consumed. */
  readonly inputId: number;
  /** Kept with the node for its next task; absent leaves what is stored. */
  readonly state?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface RunnerCompleteRequest {
  readonly outcome: 'completed' | 'no-output' | 'suspended';
  /** Of an incremental node that stopped at the cap: asks for a follow-up task. */
  readonly hasMore?: boolean | null | undefined;
  /** Shown with the state of the node. */
  readonly statusDetails?: string | null | undefined;
  /** Kept with the node for its next task; absent leaves what is stored. */
  readonly state?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface RunnerFailRequest {
  /** For people, shown with the state of the node. */
  readonly reason: string;
  /** `validation` is never tried again. */
  readonly category: 'error' | 'validation' | 'memory' | 'timeout';
}

export interface RunnerReleaseRequest {
  /** For people. */
  readonly reason?: string | null | undefined;
}

export interface SignInRequest {
  readonly username: string;
  readonly password: string;
  /** Whether a refresh token is wanted, too. */
  readonly rememberMe?: boolean | undefined;
}

export interface RefreshRequest {
  readonly refreshToken: string;
}

export interface RevokeRequest {
  readonly username: string;
}

export interface ValidationRequest {
  readonly token: string;
}

export interface UserRequest {
  readonly username: string;
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly title?: string | undefined;
  readonly company?: string | undefined;
  readonly role: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer' | 'Admin';
  readonly isActive?: boolean | undefined;
  readonly isRegistrationComplete?: boolean | undefined;
  readonly hasAcceptedDataPrivacy?: boolean | undefined;
  readonly forceChangePasswordNextSignin?: boolean | undefined;
  readonly password: string;
}

export interface UserChange {
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly title?: string | undefined;
  readonly company?: string | undefined;
  readonly role?: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer' | 'Admin' | undefined;
  readonly isActive?: boolean | undefined;
  readonly isRegistrationComplete?: boolean | undefined;
  readonly hasAcceptedDataPrivacy?: boolean | undefined;
  /** Whether access tokens are refused until the password is changed. */
  readonly forceChangePasswordNextSignin?: boolean | undefined;
}

export interface ResolveRequest {
  readonly email: string;
}

export interface LookupRequest {
  readonly ids: readonly string[];
}

export interface ActiveRequest {
  readonly ids: readonly string[];
}

export interface PasswordChange {
  readonly newPassword?: string | undefined;
  /** Another name of `newPassword`. */
  readonly password?: string | undefined;
  /** Needed of all but Administrators. */
  readonly currentPassword?: string | undefined;
  /** Whether another user has to change it at the next sign-in. */
  readonly forceChangePasswordNextSignin?: boolean | undefined;
}

export interface ErrorBody {
  readonly status: 'error';
  readonly message: string;
}

export interface UserData {
  readonly UserId: string;
  readonly Username: string;
  readonly FirstName: string;
  readonly LastName: string;
  readonly Title: string;
  readonly Company: string;
  readonly Email: string;
  readonly Role: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
  readonly CreatedAt: string;
  readonly UpdatedAt: string;
  readonly ForceChangePasswordNextSignin: boolean;
  readonly IsRegistrationComplete: boolean;
  readonly HasAcceptedDataPrivacy: boolean;
  readonly IsActive: boolean;
}

export interface PlatformUser {
  /** The platform's own id: what `OwnerId` of a project names. */
  readonly id: number;
  /** Empty for people whom the authentication service no longer has. */
  readonly email: string;
  readonly type: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
  readonly isActive: boolean;
  /** When the platform first saw the person. */
  readonly createdAt: string;
  readonly externalB2CId: null;
  /** Id of the authentication service. */
  readonly externalPlatformId: string;
}

export interface Project {
  readonly id: number;
  /** 16 lowercase hexadecimal digits. */
  readonly hexId: string;
  readonly title: string;
  readonly description: string;
  readonly icon: string;
  readonly ownerId: number;
  readonly defaultSessionTemplateId: number | null;
  readonly defaultSessionTemplate: SessionTemplate | null;
  readonly queuedIngestion: boolean;
  readonly retentionDays: number | null;
  readonly createdAt: string;
  readonly owner: {
    readonly id: number;
    /** Empty where the caller may not see the person. */
    readonly email: string;
    readonly type: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
    readonly isActive: boolean;
    readonly createdAt: string;
    readonly externalB2CId: null;
    readonly externalPlatformId: string;
    readonly sessionUsers: readonly never[];
    readonly sessionDimensions: readonly never[];
  };
}

export interface SessionTemplate {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  /** A JSON document as text, as stored. */
  readonly configuration: string;
  /** Empty in lists. */
  readonly nodes: readonly SessionTemplateNode[];
}

export interface SessionTemplateNode {
  /** Belongs to the template; a session gets node instance ids of its own. */
  readonly id: number;
  readonly name: string;
  readonly nodeTemplateId: number;
  /** Null when the node template is no longer registered. */
  readonly nodeTemplateName: string | null;
  readonly nodeTemplateType: 'Input' | 'Transform' | 'Processing' | 'Aggregation' | null;
  /** A JSON document as text. */
  readonly defaultConfiguration: string;
  readonly parentNames: readonly string[];
}

export interface SessionTemplateImported {
  readonly id: number;
  readonly name: string;
  /** False when the template of this name was updated. */
  readonly created: boolean;
}

export interface InvalidSessionTemplate {
  readonly status: 'error';
  readonly message: string;
  readonly errors: readonly DocumentIssue[];
}

export interface DocumentIssue {
  /** JSONPath of the value. */
  readonly path: string;
  readonly message: string;
}

export interface PublishedFeature {
  readonly name: string;
  readonly version: string;
  readonly publishedAt: string;
  readonly runnerTypes: readonly {
    readonly name: string;
    readonly runtime: 'sdk' | 'external';
    readonly entrypoint: string | null;
    readonly description: string;
    /** No longer in the manifest: kept for what was made with it. */
    readonly retired: boolean;
  }[];
  readonly nodeTemplates: readonly {
    readonly name: string;
    readonly runnerType: string;
    readonly type: string;
    readonly description: string;
    /** No longer in the manifest: kept for what was made with it. */
    readonly retired: boolean;
  }[];
  /** As it could be published again; of the feature that was asked for alone, else null. */
  readonly manifest: Readonly<Record<string, unknown>> | null;
}

export interface RunnerManifestReply {
  readonly published: boolean;
  readonly runnerTypes: readonly string[];
  readonly templates: readonly string[];
  readonly errors: readonly DocumentIssue[];
  readonly warnings: readonly DocumentIssue[];
}

export interface InvalidRunnerManifest {
  readonly published: boolean;
  readonly runnerTypes: readonly string[];
  readonly templates: readonly string[];
  readonly errors: readonly DocumentIssue[];
  readonly warnings: readonly DocumentIssue[];
  readonly status: 'error';
  readonly message: string;
}

export interface CodedInvalidRunnerManifest {
  readonly published: boolean;
  readonly runnerTypes: readonly string[];
  readonly templates: readonly string[];
  readonly errors: readonly DocumentIssue[];
  readonly warnings: readonly DocumentIssue[];
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
}

export interface CodedError {
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
}

export interface Session {
  readonly id: string;
  readonly name: string;
  /** The address where the caller may see the person, else an identifier. */
  readonly email: string;
  readonly projectId: number;
  readonly project: SessionProject;
  readonly sessionTemplateId: number;
  readonly sessionTemplate: SessionTemplate;
  readonly simulationName: string | null;
  readonly scenarios: readonly SessionScenario[];
  readonly dimensions: readonly SessionDimension[];
  /** From the metadata key `logoUrl`, else empty. */
  readonly logoUrl: string;
  /** Who made the session. */
  readonly userId: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly sessionUsers: readonly SessionUser[];
  readonly nodeInstances: readonly SessionNodeInstance[];
  readonly createdAt: string;
}

export interface SessionProject {
  readonly id: number;
  /** 16 lowercase hexadecimal digits. */
  readonly hexId: string;
  readonly title: string;
  readonly description: string;
  readonly icon: string;
  readonly ownerId: number;
  readonly defaultSessionTemplateId: number | null;
  readonly defaultSessionTemplate: SessionTemplate | null;
  readonly queuedIngestion: boolean;
  readonly retentionDays: number | null;
  readonly createdAt: string;
  readonly owner: {
    readonly id: number;
    readonly name: string;
    readonly email: string;
  };
}

export interface SessionScenario {
  readonly simulationId: string;
  readonly sessionId: string;
  readonly scenarioName: string;
  readonly scenarioInstanceId: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly createdAt: string;
}

export interface SessionDimension {
  readonly id: number;
  readonly name: string;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  readonly nodeInstanceId: number;
  readonly url: string;
  readonly createdAt: string;
}

export interface SessionUser {
  readonly id: number;
  /** Identifier of the creator or of a participant. */
  readonly userId: string;
  readonly createdAt: string;
}

export interface SessionNodeInstance {
  readonly id: number;
  readonly name: string;
  readonly nodeTemplateId: number;
  readonly nodeTemplateName: string;
  readonly state: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
  readonly stateCode: number;
  readonly statusDetails: string;
  readonly lastProcessed: string | null;
  /** The newest output. */
  readonly currentOutputId: number | null;
  readonly parentIds: readonly number[];
  /** A JSON document as text. */
  readonly configuration: string;
}

export interface UpdatedSession {
  readonly id: string;
  readonly name: string;
  /** The address where the caller may see the person, else an identifier. */
  readonly email: string;
  readonly simulation_name: string | null;
  readonly project_id: number;
  readonly session_template_id: number;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** From the metadata key `logoUrl`, else empty. */
  readonly logo_url: string;
  readonly node_instances: readonly {
    readonly id: number;
    readonly name: string;
    readonly node_template_id: number;
    readonly node_template_name: string;
    readonly state: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
    readonly state_code: number;
    readonly status_details: string;
    readonly last_processed: string | null;
    /** The newest output. */
    readonly current_output_id: number | null;
    readonly parent_ids: readonly number[];
    /** A JSON document as text. */
    readonly configuration: string;
  }[];
  readonly session_users: readonly {
    readonly id: number;
    /** Identifier of the creator or of a participant. */
    readonly user_id: string;
    readonly created_at: string;
  }[];
  readonly dimensions: readonly {
    readonly id: number;
    readonly name: string;
    readonly dashboard_name: string;
    readonly dashboard_version: string;
    readonly node_instance_id: number;
    readonly url: string;
    readonly created_at: string;
  }[];
  readonly scenarios: readonly {
    readonly simulation_id: string;
    readonly session_id: string;
    readonly scenario_name: string;
    readonly scenario_instance_id: string;
    readonly from: string | null;
    readonly to: string | null;
    readonly created_at: string;
  }[];
  readonly project: {
    /** 16 lowercase hexadecimal digits. */
    readonly hex_id: string;
    readonly title: string;
    readonly description: string;
    readonly icon: string;
    readonly created_at: string;
    readonly owner_id: number;
    readonly default_session_template_id: number | null;
  };
  readonly session_template: {
    readonly name: string;
    readonly description: string;
    /** A JSON document as text, as stored. */
    readonly configuration: string;
  };
  /** The only Input node, or the one that the template names. */
  readonly default_ingestion_node_id: number | null;
}

export interface SessionList {
  readonly sessions: readonly SessionListRow[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface SessionListRow {
  readonly id: string;
  readonly name: string;
  readonly simulationName: string | null;
  readonly projectId: number;
  readonly projectTitle: string;
  readonly sessionTemplateId: number;
  readonly sessionTemplateName: string;
  readonly createdAt: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

export interface SessionProgress {
  readonly sessionId: string;
  readonly nodeInstances: readonly NodeInstanceProgress[];
  readonly summary: {
    readonly total: number;
    /** Number of nodes by state; states that do not occur are left out. */
    readonly counts: Readonly<Record<string, number>>;
    /** True when the session has nodes and every one is Succeeded. */
    readonly allSucceeded: boolean;
    readonly anyFailed: boolean;
  };
}

export interface NodeInstanceProgress {
  readonly id: number;
  readonly name: string;
  readonly nodeTemplateId: number;
  readonly nodeTemplateName: string;
  readonly state: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
  readonly stateCode: number;
  readonly statusDetails: string;
  readonly lastProcessed: string | null;
  /** The newest output. */
  readonly currentOutputId: number | null;
  readonly parentIds: readonly number[];
}

export interface SharedSession {
  readonly id: string;
  readonly name: string;
  /** The address where the caller may see the person, else an identifier. */
  readonly email: string;
  readonly projectId: number;
  readonly project: SessionProject;
  readonly sessionTemplateId: number;
  readonly sessionTemplate: SessionTemplate;
  readonly simulationName: string | null;
  readonly scenarios: readonly SessionScenario[];
  readonly dimensions: readonly SessionDimension[];
  /** From the metadata key `logoUrl`, else empty. */
  readonly logoUrl: string;
  /** Who made the session. */
  readonly userId: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly sessionUsers: readonly SessionUser[];
  readonly createdAt: string;
  readonly node_instances: readonly SessionNodeInstance[];
}

export interface CloseResult {
  readonly id: string;
  readonly status: 'closed';
  readonly participantCount: number;
  readonly closedAt: string;
  /** The address where the caller may see the person, else an identifier. */
  readonly closedBy: string;
}

export interface SessionRepaired {
  readonly sessionId: string;
  /** Node instances that got a run which was due to them. */
  readonly planned: number;
  /**
   * How its workflow was found: `running` and told to look again, missing and `started`, or unable to go on
   * and `restarted`.
   */
  readonly workflow: 'running' | 'started' | 'restarted';
}

export interface SessionQueryReply {
  readonly status: true;
  readonly message: 'OK';
  readonly template: {
    readonly sessions: readonly SessionQueryRow[];
    readonly totalCount: number;
    readonly limit: number;
    readonly offset: number;
  };
}

export interface SessionQueryRow {
  readonly id: string;
  readonly name: string;
  /** The address where the caller may see the person, else an identifier. */
  readonly email: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly simulationName: string | null;
  readonly logoUrl: string;
  readonly userId: string;
  readonly createdAt: string;
  /** A JSON document as text. */
  readonly metadataJson: string | null;
}

export interface InvalidSessionQuery {
  readonly status: 'error';
  readonly message: string;
  readonly errors: readonly DocumentIssue[];
}

export interface ScenarioReply {
  readonly status: true;
  readonly message: 'OK';
  readonly template: ScenarioInstance;
}

export interface ScenarioInstance {
  readonly simulationId: string;
  readonly sessionId: string;
  readonly scenarioName: string;
  readonly scenarioInstanceId: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly dimensions: readonly SessionDimension[];
  readonly createdAt: string;
}

export interface NodeOutput {
  readonly id: number;
  readonly nodeInstanceId: number;
  /** A JSON document as text. */
  readonly configuration: string;
  readonly createdAt: string;
  readonly dataSourceId: number;
  /** Key of the object below the data source's prefix. */
  readonly dataPath: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Bytes as stored. */
  readonly sizeBytes: number;
  /** Of the bytes as stored; null for multi-part outputs. */
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly dataSource: DataSource;
}

export interface DataSource {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly createdAt: string;
}

export interface QueuedUpload {
  readonly status: 'queued';
  readonly projectId: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  /** Name of the queue; for information. */
  readonly stream: string;
  /** Name of the project in the queue; for information. */
  readonly subject: string;
}

export interface OutputLineage {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly createdAt: string;
  /** Of the node when the output was written; a JSON document as text. */
  readonly configuration: string;
  readonly nodeTemplate: {
    readonly name: string;
    readonly runnerType: string;
    readonly feature: string | null;
    readonly featureVersion: string | null;
  };
  /** An upload has neither run, runner nor inputs. */
  readonly source: 'upload' | 'run';
  readonly run: {
    readonly id: string;
    readonly reason: string;
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly outcome: string | null;
    readonly endedAt: string | null;
  } | null;
  /**
   * Runner and inputs are recorded when the run completes. False for an output published with a watermark
   * whose run goes on, or did not complete.
   */
  readonly isRecorded: boolean;
  readonly runner: {
    readonly kind: 'runner' | 'account' | 'built-in';
    readonly instanceId: string;
    readonly label: string | null;
    readonly version: string | null;
  } | null;
  readonly inputs: readonly {
    readonly outputId: number;
    readonly nodeInstanceId: number;
    readonly nodeName: string;
    readonly outputIdentifier: string;
    readonly sizeBytes: number;
    readonly sha256: string | null;
    /** First consumed by this run; else what that parent had published last. */
    readonly isNew: boolean;
  }[];
}

export interface Reprocess {
  readonly nodeInstanceId: number;
  readonly status: 'queued';
  readonly message: string;
}

export interface NodeExplanation {
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly sessionId: string;
  readonly state: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
  /** For programs; more may be added. */
  readonly why: 'held' | 'frozen' | 'waits-for-retry' | 'no-runner' | 'runners-drained' | 'queued' | 'waits-for-upload' | 'uploads-queued' | 'failed' | 'suspended' | 'waits-for-parents' | 'up-to-date' | 'being-planned';
  /** For people. */
  readonly sentence: string;
  readonly facts: {
    readonly statusDetails: string;
    readonly lastProcessed: string | null;
    readonly frozenAt: string | null;
    /** Acknowledged with 202 and not published yet. */
    readonly queuedUploads: number;
    readonly parents: readonly {
      readonly nodeInstanceId: number;
      readonly name: string;
      readonly state: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
      readonly hasOutput: boolean;
      /** It has published what the node has not consumed. */
      readonly isNews: boolean;
    }[];
    readonly openRun: {
      readonly id: string;
      readonly state: 'queued' | 'held' | 'waiting';
      readonly reason: string;
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly queuedAt: string;
      readonly dueAt: string | null;
      readonly cancelRequested: boolean;
      /** Of the same node template; counted to 1,000. */
      readonly tasksAhead: number;
    } | null;
    readonly heldBy: {
      readonly instanceId: string;
      readonly leaseExpiresAt: string;
    } | null;
    readonly lastRun: {
      readonly id: string;
      readonly outcome: string;
      readonly statusDetails: string;
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly endedAt: string | null;
    } | null;
    /** Null where the platform's own workers run the node. */
    readonly runners: {
      readonly runnerType: string;
      readonly lastSeenAt: string | null;
      /** Instances that are there and claim tasks of this node template. */
      readonly recent: number;
      /** Of those that are not drained. */
      readonly recentBusy: number;
      readonly recentDrained: number;
    } | null;
  };
}

export interface NodeRunList {
  readonly nodeRuns: readonly NodeRun[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface NodeRun {
  readonly id: string;
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** Why the run was made; `follow-up`: after a task that had more to do. */
  readonly reason: 'input' | 'reprocess' | 'follow-up';
  /**
   * `queued`: may be claimed. `held`: a runner works on it. `waiting`: until `nextAttemptAt`. Else how it
   * ended for good.
   */
  readonly state: 'queued' | 'held' | 'waiting' | 'failed' | 'cancelled' | 'completed' | 'no-output' | 'suspended';
  /** State of the node instance, whichever of its runs it comes from. */
  readonly nodeState: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
  readonly statusDetails: string;
  /** The present or last one. */
  readonly attempt: number;
  /** Rises when an operator has the run tried again. */
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
  /**
   * It failed or was cancelled, no later run of the node has taken its place, and the session is not frozen.
   */
  readonly retryable: boolean;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly nextAttemptAt: string | null;
  /** The runner instance that works on it. */
  readonly heldBy: {
    readonly instanceId: string;
    readonly leaseExpiresAt: string;
  } | null;
  /** Oldest first. */
  readonly attempts: readonly NodeRunAttempt[];
}

export interface NodeRunAttempt {
  /** From 1, over all attempts of the run. */
  readonly number: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** `lost`: its lease ended. Null while it is open. */
  readonly outcome: 'completed' | 'no-output' | 'suspended' | 'failed' | 'lost' | 'cancelled' | null;
  /** Of a failed or lost attempt. */
  readonly category: 'error' | 'validation' | 'memory' | 'timeout' | null;
  /** Why it failed, or what its runner said of it. */
  readonly reason: string;
  readonly nextAttemptAt: string | null;
}

export interface FailedRunsRetried {
  readonly sessionId: string;
  /** Runs that were queued again. */
  readonly retried: number;
}

export interface WorkflowUi {
  /** Address of Temporal's own pages; null where `TEMPORAL_UI_URL` is not set. */
  readonly url: string | null;
  readonly namespace: string;
}

export interface Ingest {
  readonly id: number;
  readonly urlPath: string;
  /** Path to which files are sent. */
  readonly url: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly inputNode: string;
  readonly dataSource: string;
  readonly creationBehaviour: 'NewSession' | 'LatestSession';
  readonly ingestDataType: 'Csv' | 'Json' | 'Binary' | 'Any';
  readonly allowAnonymous: boolean;
  /** Last four characters of the secret. */
  readonly secretHint: string;
  /** The person to whom the sessions belong. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface IngestWithSecret {
  readonly id: number;
  readonly urlPath: string;
  /** Path to which files are sent. */
  readonly url: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly inputNode: string;
  readonly dataSource: string;
  readonly creationBehaviour: 'NewSession' | 'LatestSession';
  readonly ingestDataType: 'Csv' | 'Json' | 'Binary' | 'Any';
  readonly allowAnonymous: boolean;
  /** Last four characters of the secret. */
  readonly secretHint: string;
  /** The person to whom the sessions belong. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Shown once. */
  readonly secret: string;
}

export interface Ingested {
  readonly status: 'ok';
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  readonly nodeOutputId: number;
}

/**
 * Entries by the first, the second and the remaining segments of their names. A name of one segment stands in
 * the group General; where nothing remains the last key is empty.
 */
export type Configuration = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, ConfigurationEntry>>>>>>;

export interface ConfigurationEntry {
  readonly id: number;
  readonly name: string;
  /** 0 string, 1 integer, 2 number, 3 bool, 4 JSON. */
  readonly valueType: number;
  readonly value: string;
  readonly description: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NavigationSections {
  readonly sections: readonly {
    readonly title: string;
    readonly code: string;
    readonly order: number;
    readonly items: readonly {
      readonly title: string;
      readonly icon: string;
      /** Path of the console. */
      readonly url: string;
      readonly order: number;
      readonly code: string;
    }[];
  }[];
}

export type FeatureFlags = Readonly<Record<string, boolean>>;

export interface DimensionCatalog {
  readonly dimensions: readonly {
    readonly id: number;
    /** Of the first member; the identifier where nobody can be resolved. */
    readonly name: string;
    /** Of the first member; empty where nobody can be resolved. */
    readonly email: string;
    readonly title: string;
    readonly sessionId: string;
    readonly sessionName: string;
    readonly projectId: number;
    readonly projectTitle: string;
    readonly dashboardName: string;
    readonly dashboardVersion: string;
    /** Path of the console. */
    readonly url: string;
    readonly from: string | null;
    readonly to: string | null;
    /** Of the newest scenario. */
    readonly scenarioName: string | null;
    readonly scenarioInstanceId: string | null;
    readonly metadata: Readonly<Record<string, unknown>> | null;
    readonly users: readonly {
      readonly id: string;
      readonly name: string;
      readonly email: string;
    }[];
    readonly createdAt: string;
  }[];
  readonly pageNumber: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface Dashboard {
  readonly id: number;
  readonly title: string;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  readonly url: string;
  readonly scenarioName: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly layout: Readonly<Record<string, unknown>> | null;
  readonly sources: readonly DashboardSource[];
  readonly createdAt: string;
}

export interface DashboardSource {
  readonly outputId: number;
  readonly name: string;
  readonly realm: string;
  /** `relative`: from and to are offsets, written as times since 1970. */
  readonly time: {
    readonly kind: string;
    readonly from: string | null;
    readonly to: string | null;
  };
  readonly rowCount: number;
  readonly groups: readonly {
    readonly id: string;
    readonly name: string;
  }[];
  readonly channels: readonly DashboardChannel[];
}

export interface DashboardChannel {
  /** `<outputId>:<channelId>`, as the series route takes it. */
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly unit: string | null;
  readonly type: string;
  readonly group: string;
  readonly realm: string;
}

export interface SeriesReply {
  readonly dimensionId: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly series: readonly ChannelSeries[];
}

export interface ChannelSeries {
  /** The key that was asked for. */
  readonly channel: string;
  readonly name: string;
  readonly unit: string | null;
  /** Milliseconds since 1970, or since the recording began. */
  readonly times: readonly number[];
  readonly values: readonly (number | string | boolean | null)[];
}

export interface ReportCatalog {
  readonly reports: readonly {
    readonly key: string;
    readonly name: string;
    readonly configurationKey: string;
  }[];
  readonly defaultReport: string;
}

export interface Report {
  readonly key: string;
  readonly name: string;
  readonly configurationKey: string;
  readonly fileName: string;
  readonly dimensionNameFilter: string;
  readonly isDefault: boolean;
  /** In their order. */
  readonly columns: readonly {
    readonly columnKey: string;
    readonly name: string;
    readonly expression: string;
    readonly type: 'string' | 'number' | 'boolean' | 'date' | 'duration';
    readonly format: string;
    readonly source: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard';
    readonly order: number;
  }[];
  readonly filters: readonly {
    readonly filterKey: string;
    readonly expression: string;
    readonly value: string | number | boolean | null;
    readonly source: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard';
  }[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Static {
  readonly id: number;
  readonly code: string;
  readonly title: string;
  readonly icon: string;
  readonly order: number;
  readonly sectionCode: string;
  readonly sectionTitle: string;
  readonly scopeKind: number;
  readonly createdAt: string;
  /** The sessions that back it; no list of sessions shows them. */
  readonly instances: readonly {
    readonly id: number;
    readonly sessionId: string;
    readonly createdAt: string;
  }[];
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface AuditEntry {
  readonly id: number;
  readonly at: string;
  readonly action: string;
  readonly actor: {
    /**
     * `user`: a person. `device`: an offline token. `ingest`: whoever has its secret or URL. `platform`:
     * nobody asked for it.
     */
    readonly kind: 'user' | 'device' | 'runner' | 'ingest' | 'platform';
    readonly id: string | null;
    /** The role at that time. */
    readonly role: string | null;
  };
  readonly object: {
    readonly type: string;
    readonly id: string | null;
  };
  readonly sessionId: string | null;
  readonly requestId: string | null;
  /** From where: the network of the address, /24 of IPv4, /48 of IPv6. */
  readonly network: string | null;
}

export interface RetentionPreview {
  readonly sessions: {
    readonly count: number;
    /** That go with them. */
    readonly outputs: number;
    readonly bytes: number;
    readonly items: readonly {
      readonly sessionId: string;
      readonly projectId: number;
      readonly createdAt: string;
      readonly outputs: number;
      readonly bytes: number;
    }[];
  };
  /** Old outputs of sessions that stay. */
  readonly outputs: {
    readonly count: number;
    readonly bytes: number;
    readonly sessions: number;
  };
  /** Objects without a row; null unless `orphans=true` asks for them. */
  readonly orphans: {
    readonly count: number;
    readonly bytes: number;
  } | null;
  /** Uploads without a sign of life for an hour. */
  readonly abandonedUploads: number;
  /** False when there is more: sessions beyond 10000, objects beyond 50000. */
  readonly complete: boolean;
  /** The last ten, newest first. */
  readonly runs: readonly RetentionRun[];
}

export interface RetentionRun {
  readonly id: number;
  readonly requestedAt: string;
  /** The Administrator who asked; null: the clock. */
  readonly requestedBy: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Deleted by it so far. */
  readonly sessions: number;
  /** Deleted by it, those of deleted sessions too. */
  readonly outputs: number;
  /** Objects without a row that were removed. */
  readonly orphans: number;
  readonly bytes: number;
  /** What could not be looked at. */
  readonly error: string | null;
}

export interface RunnerTokenCreated {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: string;
  readonly scopes: readonly ('tasks' | 'debug:read')[];
}

export interface RunnerToken {
  readonly id: string;
  readonly label: string;
  readonly runnerTypes: readonly string[];
  readonly scopes: readonly ('tasks' | 'debug:read')[];
  /** Id of the user; null: the platform itself, for a runner that it deployed. */
  readonly createdBy: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  /** True also when it ended with its creator. */
  readonly revoked: boolean;
  /** Last four characters of the token. */
  readonly tokenHint: string;
}

export interface RunnerInstanceList {
  readonly runners: readonly RunnerInstance[];
  readonly deployed: readonly DeployedRunner[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface RunnerInstance {
  readonly id: string;
  /** As the runner named itself. */
  readonly instanceId: string;
  /** What it calls with. */
  readonly kind: 'token' | 'account';
  readonly tokenId: string | null;
  readonly tokenLabel: string | null;
  readonly tokenHint: string | null;
  /** The account; null for tokens. */
  readonly userId: string | null;
  /** Whose tasks it may claim. */
  readonly runnerTypes: readonly string[];
  /** `deployed`: started by the platform; `external`: by somebody else. */
  readonly hosting: 'deployed' | 'external';
  /** From the `User-Agent` of its calls. */
  readonly version: string | null;
  readonly firstSeenAt: string;
  /** To within a few seconds. */
  readonly lastSeenAt: string;
  readonly drained: boolean;
  /**
   * `gone`: it signed off, or holds nothing and was not seen for 120 seconds. A claim that waits is seen all
   * the time. `drained`: it is there and holds nothing.
   */
  readonly state: 'waiting' | 'busy' | 'drained' | 'gone';
  /** What it holds now. */
  readonly task: {
    readonly taskId: string;
    readonly runId: string;
    readonly attempt: number;
    readonly sessionId: string;
    readonly nodeInstanceId: number;
    readonly nodeName: string;
    readonly nodeTemplate: string;
    readonly claimedAt: string;
    readonly phase: string | null;
  } | null;
}

export interface DeployedRunner {
  readonly runnerType: string;
  /** Null: the manifest names none, so nothing is started. */
  readonly entrypoint: string | null;
  /** Empty while no host keeps it: it is off, full, or has not looked yet. */
  readonly processes: readonly {
    /** From 1, where a runner type has several processes. */
    readonly number: number;
    /**
     * `running`: takes tasks; `waiting`: down, and started again by itself; `silent`: its host has not told of
     * it for longer than it should, and another takes over.
     */
    readonly state: 'starting' | 'running' | 'waiting' | 'stopping' | 'silent';
    /** Why it is in this state; empty where there is nothing to say. */
    readonly message: string;
    /** How often its host has started it. */
    readonly starts: number;
    readonly changedAt: string;
    /** What it calls with. */
    readonly tokenId: string | null;
  }[];
}

export interface RunnerWhoami {
  readonly kind: 'runner' | 'account';
  /** Null for accounts. */
  readonly tokenId: string | null;
  /** Of the token; the username of an account. */
  readonly label: string | null;
  readonly runnerTypes: readonly string[];
  readonly scopes: readonly ('tasks' | 'debug:read')[];
  /** Null for accounts. */
  readonly expiresAt: string | null;
  /** Node templates whose tasks the caller may claim. */
  readonly templates: readonly {
    readonly name: string;
    readonly runnerType: string;
    readonly type: string;
  }[];
  readonly limits: {
    readonly maxOutputBytes: number;
    readonly maxOutputMetadataBytes: number;
    readonly maxOutputIdentifierLength: number;
    readonly maxWaitSeconds: number;
    readonly leaseSeconds: number;
    readonly heartbeatIntervalSeconds: number;
    readonly upload: {
      readonly minPartBytes: number;
      readonly maxPartBytes: number;
      readonly maxParts: number;
    };
    readonly incremental: {
      readonly maxInputsPerTask: number;
    };
  };
}

export interface RunnerTask {
  /** Made anew at every claim. */
  readonly taskId: string;
  /** The same for all attempts of one execution of the node. */
  readonly runId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** `follow-up` after `hasMore`; `retry` for every attempt above the first. */
  readonly reason: 'input' | 'reprocess' | 'follow-up' | 'retry';
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** The configuration of the node in its session. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly parents: readonly {
    readonly nodeInstanceId: number;
    readonly name: string;
  }[];
  readonly claimedAt: string;
  /** The task is lost then; every call for it renews the lease. */
  readonly leaseExpiresAt: string;
  /** How often to send a heartbeat. */
  readonly heartbeatIntervalSeconds: number;
  readonly incremental: RunnerIncremental;
  /**
   * W3C trace context of the run; null where nothing is traced. Send it as header `traceparent` of every call
   * for the task, so that they are told as parts of one trace.
   */
  readonly traceparent: string | null;
}

export interface RunnerIncremental {
  /** Id of the last input that is fully consumed. */
  readonly watermark: number | null;
  /** Inputs of this task above the watermark. */
  readonly pendingInputs: number;
  /** Most inputs that `since-watermark` lists for one task. */
  readonly maxInputsPerTask: number;
}

export interface RunnerInputs {
  readonly mode: 'since-watermark' | 'latest' | 'all';
  readonly inputs: readonly RunnerInput[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  readonly incremental: RunnerIncremental;
}

export interface RunnerInput {
  /** Names the input, also as a watermark. */
  readonly outputId: number;
  /** The node whose output it is. */
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  /** `gzip` or null. */
  readonly contentEncoding: string | null;
  /** As stored, that is before any decoding. */
  readonly sizeBytes: number;
  /** Null for outputs that came in parts. */
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
}

export interface RunnerState {
  /** The newest output of the node itself. */
  readonly previousOutput: RunnerInput | null;
  /** What the runner stored last. */
  readonly state: Readonly<Record<string, unknown>> | null;
  readonly incremental: RunnerIncremental;
}

export interface RunnerOutput {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly sizeBytes: number;
  /** Null for outputs that came in parts. */
  readonly sha256: string | null;
  readonly createdAt: string;
}

export interface RunnerUpload {
  /** Names the upload in the calls that follow. */
  readonly handle: string;
  /** Every part but the last holds at least this much. */
  readonly minPartBytes: number;
  readonly maxPartBytes: number;
  readonly maxParts: number;
  /** It ends earlier with the task. */
  readonly expiresAt: string;
}

export interface RunnerUploadPart {
  readonly part: number;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface RunnerHeartbeat {
  readonly taskId: string;
  readonly leaseExpiresAt: string;
  /** An operator cancelled the run: end the task. */
  readonly cancelRequested: boolean;
}

export interface RunnerWatermark {
  readonly watermark: number | null;
  readonly pendingInputs: number;
}

export interface RunnerComplete {
  readonly taskId: string;
  readonly outcome: string;
  /** As in node progress. */
  readonly nodeState: string;
  /** A follow-up task was made. */
  readonly followUp: boolean;
}

export interface RunnerFail {
  readonly taskId: string;
  /** As in node progress. */
  readonly nodeState: string;
  readonly willRetry: boolean;
  /** Null when it is not tried again. */
  readonly nextAttemptAt: string | null;
}

export interface RunnerRelease {
  readonly taskId: string;
  /** As in node progress. */
  readonly nodeState: string;
}

export interface RunnerDebugContext {
  readonly maxAttempts: number;
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** The configuration of the node in its session. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly parents: readonly {
    readonly nodeInstanceId: number;
    readonly name: string;
  }[];
  readonly incremental: RunnerIncremental;
  /** The run that is queued, held or waiting. */
  readonly runId: string | null;
  /** Of the run that is open or due. */
  readonly reason: 'input' | 'reprocess' | 'follow-up' | 'retry' | null;
  /** As in node progress. */
  readonly nodeState: string;
  /** A runner that claims now would get a task of the node. */
  readonly wouldRun: boolean;
  /** A sentence that explains wouldRun. */
  readonly why: string;
}

export interface SignedIn {
  readonly accessToken: string;
  readonly tokenType: 'Bearer';
  readonly expiresAt: string;
  /** Null unless `rememberMe` is true. */
  readonly refreshToken: string | null;
  readonly refreshExpiresAt: string | null;
  readonly user: User;
}

export interface User {
  readonly userId: string;
  readonly username: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  readonly company: string;
  readonly email: string;
  readonly role: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly forceChangePasswordNextSignin: boolean;
  readonly isRegistrationComplete: boolean;
  readonly hasAcceptedDataPrivacy: boolean;
  readonly isActive: boolean;
}

export interface TokensRevoked {
  readonly status: 'ok';
  readonly username: string;
  readonly revoked: number;
}

export interface TokenValidation {
  readonly userId: string;
  readonly username: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  readonly company: string;
  readonly email: string;
  readonly role: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly forceChangePasswordNextSignin: boolean;
  readonly isRegistrationComplete: boolean;
  readonly hasAcceptedDataPrivacy: boolean;
  readonly isActive: boolean;
  /** Services that take tokens go by it to hold devices to their scope. */
  readonly isOfflineToken: boolean;
}

export interface OfflineToken {
  readonly token: string;
  readonly expiresAt: string;
}

export interface OfflineTokenMetadata {
  readonly secretId: string;
  readonly userId: string;
  readonly username: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  readonly revoked: boolean;
  readonly tokenHint: string;
}

export interface UserList {
  readonly users: readonly User[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface SessionOutputEvent {
  readonly id: number;
  readonly nodeInstanceId: number;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly sizeBytes: number;
  readonly createdAt: string;
}

export interface SessionAttemptEvent {
  readonly nodeInstanceId: number;
  readonly runId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly startedAt: string | null;
  /** Null while the attempt goes on. */
  readonly endedAt: string | null;
  readonly outcome: string | null;
  readonly details: string;
}

export interface SessionWindowEvent {
  readonly frozen: boolean;
  readonly status: 'open' | 'closed';
  /** Null on sessions that are not shared. */
  readonly startTimeUtc: string | null;
  readonly endTimeUtc: string | null;
  readonly closedAt: string | null;
  readonly closeReason: string | null;
  readonly participantCount: number;
}

/** Each route with what it takes and what it answers. `Response`: bytes, not JSON. */
export interface Routes {
  'GET /health_check': {
    reply: {
      readonly status: 'ok';
    };
  };
  'GET /api/v2/health': {
    reply: {
      readonly status: 'ok';
    };
  };
  'GET /ready_check': {
    reply: {
      readonly status: 'ok';
    };
  };
  'GET /user_data': { reply: UserData };
  'GET /api/v2/admin/users': { reply: readonly PlatformUser[] };
  'GET /projects': { reply: readonly Project[] };
  'POST /projects': { body: ProjectRequest; reply: Project };
  'GET /projects/{id}': { reply: Project };
  'PUT /projects/{id}': { body: ProjectRequest; reply: Project };
  'GET /api/v2/session/session_templates': { reply: readonly SessionTemplate[] };
  'GET /api/v2/session/session_templates/{sessionTemplateId}': { reply: SessionTemplate };
  'POST /api/v2/admin/session-templates': { body: SessionTemplateFile; reply: SessionTemplateImported };
  'GET /api/v2/admin/runner-manifests': {
    query?: {
      /** A feature whose manifest is wanted as well. */
      readonly feature?: string | undefined;
    };
    reply: readonly PublishedFeature[];
  };
  'POST /api/v2/admin/runner-manifests': { body: RunnerManifest; reply: RunnerManifestReply };
  'POST /api/v2/runner/manifests/validate': { body: RunnerManifest; reply: RunnerManifestReply };
  'POST /session': { body: SessionRequest; reply: Session };
  'GET /api/v2/sessions/{id}': { reply: Session };
  'PATCH /api/v2/sessions/{id}': { body: SessionUpdate; reply: UpdatedSession };
  'DELETE /api/v2/sessions/{id}': { reply: undefined };
  'GET /api/v2/session': {
    query?: {
      /** Only sessions of this one. */
      readonly projectId?: number | undefined;
      /** Only sessions of this one. */
      readonly sessionTemplateId?: number | undefined;
      /** Part of session name, simulation name or session id, in any case. */
      readonly search?: string | undefined;
      /** What the order goes by. */
      readonly sortBy?: 'date' | 'name' | undefined;
      /** Newest or last first, or the other way round. */
      readonly sortOrder?: 'desc' | 'asc' | undefined;
      /** Number of the page, from 1. */
      readonly page?: number | undefined;
      /** Sessions on a page. */
      readonly pageSize?: number | undefined;
    };
    reply: SessionList;
  };
  'GET /api/v2/session/{id}/node-instances': { reply: SessionProgress };
  'POST /api/v2/sessions/{id}/freeze': { reply: Session };
  'POST /api/v2/sessions/{id}/unfreeze': { reply: Session };
  'POST /api/v2/session/shared_session': {
    query: {
      /** The project of the session. */
      readonly projectId: number;
    };
    body: SharedSessionRequest;
    reply: SharedSession;
  };
  'POST /api/v2/session/{id}/close': { body?: CloseRequest; reply: CloseResult };
  'POST /api/v2/admin/sessions/{id}/repair': { reply: SessionRepaired };
  'GET /api/v2/sessions/{id}/events': { reply: Response };
  'POST /api/sessions/query': { body: SessionQueryRequest; reply: SessionQueryReply };
  'POST /{sessionId}/scenario_instances': { body: ScenarioRequest; reply: ScenarioReply };
  'POST /api/v2/node-instance/{nodeInstanceId}/outputs/data': { reply: NodeOutput | QueuedUpload };
  'GET /api/v2/node-instance/{nodeInstanceId}/outputs': { reply: readonly NodeOutput[] };
  'GET /api/v2/node-instance/outputs/{nodeOutputId}/data': { reply: Response };
  'GET /api/v2/node-instance/{nodeInstanceId}/outputs/latest/data': { reply: Response };
  'GET /api/v2/node-instance/outputs/{nodeOutputId}/lineage': { reply: OutputLineage };
  'POST /api/v2/node-instance/{nodeInstanceId}/reprocess': { reply: Reprocess };
  'GET /api/v2/node-instance/{nodeInstanceId}/explain': { reply: NodeExplanation };
  'GET /api/v2/admin/node-runs': {
    query?: {
      /** Only runs of this session. */
      readonly sessionId?: string | undefined;
      /** Only runs of this node instance. */
      readonly nodeInstanceId?: number | undefined;
      /** Only runs of nodes of this node template. */
      readonly nodeTemplate?: string | undefined;
      /**
       * States, with commas between them. Without it: all runs of the session or node instance; without those,
       * all that are open or failed.
       */
      readonly state?: string | undefined;
      /** Number of the page, from 1. */
      readonly page?: number | undefined;
      /** Runs on a page. */
      readonly pageSize?: number | undefined;
    };
    reply: NodeRunList;
  };
  'GET /api/v2/admin/node-runs/{id}': { reply: NodeRun };
  'POST /api/v2/admin/node-runs/{id}/retry': { reply: NodeRun };
  'POST /api/v2/admin/node-runs/{id}/cancel': { reply: NodeRun };
  'POST /api/v2/admin/sessions/{id}/retry-failed': { reply: FailedRunsRetried };
  'GET /api/v2/admin/workflow-ui': { reply: WorkflowUi };
  'GET /api/v2/admin/ingests': { reply: readonly Ingest[] };
  'POST /api/v2/admin/ingests': { body: IngestRequest; reply: IngestWithSecret };
  'GET /api/v2/admin/ingests/{id}': { reply: Ingest };
  'PUT /api/v2/admin/ingests/{id}': { body: IngestChange; reply: Ingest };
  'DELETE /api/v2/admin/ingests/{id}': { reply: undefined };
  'POST /api/v2/admin/ingests/{id}/rotate-secret': { reply: IngestWithSecret };
  'POST /ingest/{urlPath}': { reply: Ingested | QueuedUpload };
  'GET /config/all': {
    query?: {
      /** Only entries whose name is this or starts with it. */
      readonly prefix?: string | undefined;
    };
    reply: Configuration;
  };
  'POST /config': { body: ConfigurationRequest; reply: ConfigurationEntry };
  'PUT /config/{name}': { body: ConfigurationChange; reply: ConfigurationEntry };
  'GET /api/v2/dashboard/statics/nav': { reply: NavigationSections };
  'GET /api/v2/dashboard/navigation': { reply: NavigationSections };
  'GET /api/v2/dashboard/feature-flags': {
    query?: {
      /** Names, separated by commas. */
      readonly features?: string | undefined;
    };
    reply: FeatureFlags;
  };
  'GET /api/v2/dashboard/dimensions': {
    query?: {
      /** Only those of which this user is a member. */
      readonly userId?: string | undefined;
      /** Number of the page, from 1. */
      readonly pageNumber?: number | undefined;
      /** Oldest or newest first. */
      readonly orderBy?: 'ascending' | 'descending' | undefined;
      /** A date or timestamp. */
      readonly from?: string | undefined;
      /** A date, which counts to its end, or a timestamp. */
      readonly to?: string | undefined;
    };
    reply: DimensionCatalog;
  };
  'GET /api/v2/dashboard/dimensions/{id}': { reply: Dashboard };
  'GET /api/v2/dashboard/dimensions/{id}/series': {
    query: {
      /** Channel keys of the dashboard, separated by commas. */
      readonly channels: string;
      /** Points from this time on. Default: the beginning of the recordings. */
      readonly from?: string | undefined;
      /** Points up to this time. Default: the end of the recordings. */
      readonly to?: string | undefined;
      /** Points of each channel, at most. */
      readonly maxPoints?: number | undefined;
    };
    reply: SeriesReply;
  };
  'GET /api/v2/dashboard/reports/catalog': { reply: ReportCatalog };
  'GET /api/v2/dashboard/reports/download': {
    query?: {
      /** Only rows of this user. */
      readonly userId?: string | undefined;
      /** Key of the report; default: the default report. */
      readonly option?: string | undefined;
      /** Another name of `option`. */
      readonly report?: string | undefined;
      /** The kind of file. */
      readonly format?: 'xlsx' | 'csv' | undefined;
      /** A date or timestamp. */
      readonly from?: string | undefined;
      /** A date, which counts to its end, or a timestamp. */
      readonly to?: string | undefined;
    };
    reply: Response;
  };
  'GET /api/v2/dashboard/reports/{key}': { reply: Report };
  'PUT /api/v2/dashboard/reports/{key}': { body: ReportChange; reply: Report };
  'POST /api/v2/dashboard/reports': { body: NewReport; reply: Report };
  'GET /api/v2/admin/statics': { reply: readonly Static[] };
  'POST /api/v2/admin/statics': { body: NewStatic; reply: Static };
  'DELETE /api/v2/admin/statics/{code}': { reply: undefined };
  'POST /api/v2/admin/statics/{code}/instances': { body: NewStaticInstance; reply: Static };
  'DELETE /api/v2/admin/statics/{code}/instances/{sessionId}': { reply: undefined };
  'GET /api/v2/admin/data-sources': { reply: readonly DataSource[] };
  'POST /api/v2/admin/data-sources': { body: DataSourceRequest; reply: DataSource };
  'PUT /api/v2/admin/data-sources/{name}': { body: DataSourceChange; reply: DataSource };
  'DELETE /api/v2/admin/data-sources/{name}': { reply: undefined };
  'POST /api/v2/admin/offline-tokens': {
    reply: {
      readonly token: string;
      readonly expiresAt: string;
    };
  };
  'GET /api/v2/admin/offline-tokens': {
    reply: readonly {
      readonly secretId: string;
      readonly userId: string;
      readonly username: string;
      readonly expiresAt: string;
      readonly lastUsedAt: string | null;
      readonly revoked: boolean;
      readonly tokenHint: string;
    }[];
  };
  'DELETE /api/v2/admin/offline-tokens/{secretId}': { reply: undefined };
  'GET /api/v2/openapi.json': { reply: Readonly<Record<string, unknown>> };
  'GET /api/v2/runner/runner-api.v1.yaml': { reply: Response };
  'GET /api/v2/admin/audit': {
    query?: {
      /** Entries from then on. */
      readonly from?: string | undefined;
      /** Entries before then. */
      readonly to?: string | undefined;
      /** An operation of this document by its id, or what the platform did. */
      readonly action?: string | undefined;
      /** Who: the id of a user, a runner token or a managed ingest. */
      readonly actorId?: string | undefined;
      /** The kind of object that was written. */
      readonly objectType?: 'project' | 'sessionTemplate' | 'feature' | 'session' | 'scenario' | 'nodeInstance' | 'nodeRun' | 'ingest' | 'configuration' | 'report' | 'static' | 'dataSource' | 'offlineToken' | 'runnerToken' | 'runner' | 'retention' | 'user' | undefined;
      /** Its id, or its name where it has no other. */
      readonly objectId?: string | undefined;
      /** Whatever was written to this session. */
      readonly sessionId?: string | undefined;
      /** The `nextCursor` of the page before. */
      readonly cursor?: string | undefined;
      /** Entries on a page. */
      readonly limit?: number | undefined;
    };
    reply: AuditPage;
  };
  'GET /api/v2/admin/retention': {
    query?: {
      /** Whether the platform's bucket is listed too, for objects that no row tells of. */
      readonly orphans?: boolean | undefined;
    };
    reply: RetentionPreview;
  };
  'POST /api/v2/admin/retention': { reply: RetentionRun };
  'POST /api/v2/admin/runner-tokens': { body: RunnerTokenRequest; reply: RunnerTokenCreated };
  'GET /api/v2/admin/runner-tokens': { reply: readonly RunnerToken[] };
  'DELETE /api/v2/admin/runner-tokens/{id}': { reply: undefined };
  'GET /api/v2/admin/runners': {
    query?: {
      /** Number of the page, from 1. */
      readonly page?: number | undefined;
      /** Instances on a page. */
      readonly pageSize?: number | undefined;
    };
    reply: RunnerInstanceList;
  };
  'POST /api/v2/admin/runners/{id}/drain': { reply: RunnerInstance };
  'DELETE /api/v2/admin/runners/{id}/drain': { reply: RunnerInstance };
  'GET /api/v2/runner/whoami': { reply: RunnerWhoami };
  'POST /api/v2/runner/tasks/claim': { body: RunnerClaimRequest; reply: RunnerTask | undefined };
  'DELETE /api/v2/runner/instances/{instanceId}': { reply: undefined };
  'GET /api/v2/runner/tasks/{taskId}/inputs': {
    query?: {
      /**
       * `since-watermark`: above the watermark as it stood at the claim, capped; `latest`: of each parent what
       * it published last together; `all`: everything.
       */
      readonly mode?: 'since-watermark' | 'latest' | 'all' | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
      /** Inputs on a page. */
      readonly limit?: number | undefined;
    };
    reply: RunnerInputs;
  };
  'GET /api/v2/runner/tasks/{taskId}/inputs/{outputId}/data': { reply: Response };
  'GET /api/v2/runner/tasks/{taskId}/state': { reply: RunnerState };
  'POST /api/v2/runner/tasks/{taskId}/outputs': { reply: RunnerOutput };
  'POST /api/v2/runner/tasks/{taskId}/outputs/uploads': { reply: RunnerOutput | RunnerUpload };
  'PUT /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}/parts/{n}': { reply: RunnerUploadPart };
  'POST /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}/complete': { reply: RunnerOutput };
  'DELETE /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}': { reply: undefined };
  'PUT /api/v2/runner/tasks/{taskId}/heartbeat': { body?: RunnerHeartbeatRequest; reply: RunnerHeartbeat };
  'PUT /api/v2/runner/tasks/{taskId}/watermark': { body: RunnerWatermarkRequest; reply: RunnerWatermark };
  'PUT /api/v2/runner/tasks/{taskId}/complete': { body: RunnerCompleteRequest; reply: RunnerComplete };
  'PUT /api/v2/runner/tasks/{taskId}/fail': { body: RunnerFailRequest; reply: RunnerFail };
  'PUT /api/v2/runner/tasks/{taskId}/release': { body?: RunnerReleaseRequest; reply: RunnerRelease };
  'GET /api/v2/runner/debug/nodes/{nodeInstanceId}/context': { reply: RunnerDebugContext };
  'GET /api/v2/runner/debug/nodes/{nodeInstanceId}/inputs': {
    query?: {
      /**
       * `since-watermark`: above the watermark as it stood at the claim, capped; `latest`: of each parent what
       * it published last together; `all`: everything.
       */
      readonly mode?: 'since-watermark' | 'latest' | 'all' | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
      /** Inputs on a page. */
      readonly limit?: number | undefined;
    };
    reply: RunnerInputs;
  };
  'GET /api/v2/runner/debug/nodes/{nodeInstanceId}/inputs/{outputId}/data': { reply: Response };
  'POST /api/authorization/token': { body: SignInRequest; reply: SignedIn };
  'POST /api/authorization/refresh': { body: RefreshRequest; reply: SignedIn };
  'POST /api/authorization/logout': { reply: undefined };
  'POST /api/authorization/revoke': { body: RevokeRequest; reply: TokensRevoked };
  'POST /api/authorization/validate': { body: ValidationRequest; reply: TokenValidation };
  'POST /api/authorization/offline_token': { reply: OfflineToken };
  'GET /api/authorization/offline_token': { reply: readonly OfflineTokenMetadata[] };
  'DELETE /api/authorization/offline_token/{secretId}': { reply: undefined };
  'GET /api/authorization/users': {
    query?: {
      /** Part of username, names or address, in any case. */
      readonly search?: string | undefined;
      /** Number of the page, from 1. */
      readonly page?: number | undefined;
      /** Users on a page. */
      readonly pageSize?: number | undefined;
    };
    reply: UserList;
  };
  'POST /api/authorization/users': { body: UserRequest; reply: User };
  'GET /api/authorization/users/{userId}': { reply: User };
  'PATCH /api/authorization/users/{userId}': { body: UserChange; reply: User };
  'DELETE /api/authorization/users/{userId}': { reply: undefined };
  'POST /api/authorization/users/resolve': { body: ResolveRequest; reply: User };
  'POST /api/authorization/users/lookup': {
    body: LookupRequest;
    reply: {
      readonly users: readonly User[];
    };
  };
  'POST /api/authorization/users/active': {
    body: ActiveRequest;
    reply: {
      readonly users: readonly {
        readonly userId: string;
        readonly role: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
        /** When all of their tokens were revoked last. */
        readonly tokensRevokedAt: string | null;
      }[];
    };
  };
  'POST /api/authorization/users/{userId}/password': { body: PasswordChange; reply: undefined };
  'GET /api/authorization/audit': {
    query?: {
      /** Entries from then on. */
      readonly from?: string | undefined;
      /** Entries before then. */
      readonly to?: string | undefined;
      /** An operation of this document by its id, or what the platform did. */
      readonly action?: string | undefined;
      /** Who: the id of a user, a runner token or a managed ingest. */
      readonly actorId?: string | undefined;
      /** The kind of object that was written. */
      readonly objectType?: 'project' | 'sessionTemplate' | 'feature' | 'session' | 'scenario' | 'nodeInstance' | 'nodeRun' | 'ingest' | 'configuration' | 'report' | 'static' | 'dataSource' | 'offlineToken' | 'runnerToken' | 'runner' | 'retention' | 'user' | undefined;
      /** Its id, or its name where it has no other. */
      readonly objectId?: string | undefined;
      /** Whatever was written to this session. */
      readonly sessionId?: string | undefined;
      /** The `nextCursor` of the page before. */
      readonly cursor?: string | undefined;
      /** Entries on a page. */
      readonly limit?: number | undefined;
    };
    reply: AuditPage;
  };
  'GET /api/authorization/health': {
    reply: {
      readonly status: 'ok';
    };
  };
}
