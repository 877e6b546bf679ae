/**
 * Requests and replies of the platform, made from its OpenAPI document. Do not edit: `npm run generate:client` writes
 * this file anew. Times are ISO 8601 in UTC. A reply may gain fields within a version of the interface.
 */

export interface ProjectRequest {
  readonly Title: string;
  readonly Description?: string | null | undefined;
  readonly Icon?: string | null | undefined;
  /** The platform's id of a person. Default at creation: the caller. */
  readonly OwnerId?: number | null | undefined;
  /** Null: none. */
  readonly DefaultSessionTemplateId?: number | null | undefined;
  /** True: uploads get 202 and are published from a queue. Default: false. */
  readonly QueuedIngestion?: boolean | null | undefined;
  /** Null: sessions are kept forever. */
  readonly RetentionDays?: number | null | undefined;
  /** Paths into the metadata of its sessions, whose values lists of sessions show. */
  readonly PinnedMetadata?: readonly string[] | null | undefined;
  /**
   * -10 to 10, at first 0. Those of project and session are added, to at most 10; each step moves the
   * session's queued runs by a minute of waiting. A change moves what is queued.
   */
  readonly Priority?: number | null | undefined;
}

/** A template definition file. Every fault is reported with its JSON path. */
export interface SessionTemplateFile {
  /** Ignored. */
  readonly $schema?: string | undefined;
  readonly TemplateVersion?: string | number | undefined;
  readonly Name: string;
  readonly Description?: string | undefined;
  readonly Configuration?: Readonly<Record<string, unknown>> | undefined;
  readonly updateIfExists?: boolean | undefined;
  readonly Nodes: readonly {
    /** Unique in the template. */
    readonly Name: string;
    /** Name of a registered node template. */
    readonly NodeTemplateName: string;
    readonly DefaultConfiguration?: Readonly<Record<string, unknown>> | undefined;
    /** Names of parent nodes. Only nodes of type Input have none. */
    readonly Parents?: readonly string[] | undefined;
  }[];
}

/**
 * What a feature registers. The same or a higher version updates the feature. Every fault is reported with its
 * JSON path.
 */
export interface RunnerManifest {
  /** The form of this document. */
  readonly manifestVersion: 1;
  /** The product that the runners belong to. */
  readonly feature: {
    /** Manifests with the same name update the same feature. */
    readonly name: string;
    /**
     * Like `1.2.3` or `1.2.3-beta.1`, compared by Semantic Versioning. It must not be below the published one.
     */
    readonly version: string;
    /** Other values belong to the platform. */
    readonly ownershipType: 'ThirdParty';
  };
  /** The programs. A runner token covers the tasks of one or more runner types. */
  readonly runnerTypes: readonly {
    /**
     * Unique on the platform: the name belongs to the feature that registered it first. It does not change
     * later.
     */
    readonly name: string;
    /** `external`: you start the program. `sdk`: the platform starts it. */
    readonly runtime: 'sdk' | 'external';
    /**
     * For runtime `sdk`: a module in the folder of deployed runners whose default export is a runner. A path
     * outside the folder is refused; a missing module is a warning.
     */
    readonly entrypoint?: string | undefined;
    /** A text for people. */
    readonly description?: string | undefined;
    /**
     * How many of its tasks may be held at once, over all runners: in all, of one project, of one session.
     * Without it, any number. Operators may choose other values.
     */
    readonly concurrency?: {
      /** In all. */
      readonly max: number;
      /** Tasks of the sessions of one project. */
      readonly perProject?: number | undefined;
      /** Tasks of one session. */
      readonly perSession?: number | undefined;
    } | undefined;
  }[];
  /**
   * The kinds of node that graphs may use. One that is no longer listed is retired: present sessions go on
   * with it, and new session templates cannot use it.
   */
  readonly nodeTemplates?: readonly {
    /**
     * Unique on the platform: the name belongs to the feature that registered it first. It does not change
     * later.
     */
    readonly name: string;
    /** A runner type of this manifest, whose runners work on its nodes. */
    readonly runnerType: string;
    /**
     * The kind, as people see it. Nodes of type `Input` have no parents and get uploads instead of tasks; the
     * type cannot become `Input` later, or another one from it.
     */
    readonly type: 'Input' | 'Transform' | 'Processing' | 'Aggregation';
    /** A text for people. */
    readonly description?: string | undefined;
    /**
     * JSON Schema 2020-12, inline: no `$ref`, at most 64 KB and 500 objects. It validates the configurations
     * of nodes, and the console makes a form of it.
     */
    readonly configurationSchema: Readonly<Record<string, unknown>>;
    /** With several parents: whether all of them, or any one, must have an output before the first run. */
    readonly trigger?: 'all' | 'any' | undefined;
    /**
     * A task gets only the inputs that the node has not consumed. The runner moves the watermark past each,
     * which publishes what it wrote before.
     */
    readonly incremental?: boolean | undefined;
    /** The inputs of a reprocess: the newest of each parent, or all. */
    readonly reprocess?: 'latest' | 'all' | undefined;
    /**
     * Attempts of a run. A lost lease counts as an attempt, a release does not. A failure of category
     * `validation` is never retried.
     */
    readonly maxAttempts?: number | undefined;
    /**
     * The longest time of one attempt, which then fails with category `timeout`. Without it an attempt may
     * take any time.
     */
    readonly timeoutSeconds?: number | undefined;
    /**
     * A task is given to another runner when its own was silent for this time. The kits send a heartbeat three
     * times as often.
     */
    readonly leaseSeconds?: number | undefined;
    /**
     * How many of its tasks may be held at once, over all runners: in all, of one project, of one session.
     * Without it, any number. Operators may choose other values.
     */
    readonly concurrency?: {
      /** In all. */
      readonly max: number;
      /** Tasks of the sessions of one project. */
      readonly perProject?: number | undefined;
      /** Tasks of one session. */
      readonly perSession?: number | undefined;
    } | undefined;
  }[] | undefined;
}

export interface NewSessionView {
  /** What people see in the list of sessions. */
  readonly name: string;
  /** `mine`: for the caller alone; `project` and `everyone`: for all who list sessions. */
  readonly scope: 'mine' | 'project' | 'everyone';
  /** The project of a view for a project; else absent or null. */
  readonly projectId?: number | null | undefined;
  /**
   * The query part of the list's address in the console, without its question mark: tab, search, project,
   * template, from, to, sortBy, sortOrder, or query and orderBy of the query builder.
   */
  readonly query: string;
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
  /** An address, or the identifier that the session shows in its place: no change. */
  readonly email?: string | null | undefined;
  /** On a shared session it is a name: trimmed, not empty, without control characters. */
  readonly simulation_name?: string | null | undefined;
  /** Can change only while no node of the session has received data. */
  readonly session_template_id?: number | null | undefined;
  readonly project_id?: number | null | undefined;
  /**
   * -10 to 10, at first 0. Those of project and session are added, to at most 10; each step moves the
   * session's queued runs by a minute of waiting. A change moves what is queued.
   */
  readonly priority?: number | null | undefined;
  /** Replaces the caller's part. The platform's keys do not change. */
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
  /** Shared by the machines of one exercise. */
  readonly machineGroup: number;
  /** Length of the window. Default: 300. */
  readonly timeWindowSeconds?: number | null | undefined;
}

export interface CloseRequest {
  /** Address of the participant who closes. Default: the caller. */
  readonly email?: string | null | undefined;
  readonly reason?: string | null | undefined;
  /** From the session's start to 24 hours ahead. Default: now. */
  readonly closeAt?: string | null | undefined;
}

export interface TemplateAdoptionRequest {
  /** Default: the session’s own template. */
  readonly sessionTemplateId?: number | null | undefined;
  /** Only answers what would change. */
  readonly dryRun?: boolean | undefined;
}

/**
 * `filter`: a node {path, op, value}, {and: [...]} or {or: [...]}; at most 100 conditions and 10 levels. A
 * path is a session property (id, name, email, projectId, sessionTemplateId, simulationName, logoUrl, userId,
 * createdAt, state, lastActivityAt, owner) or a dot-notation path into the metadata as shown. owner is the id
 * of the creator, or me. Operators: eq and ne; gt, gte, lt, lte for numbers and times; contains, startsWith,
 * endsWith for text. Metadata accept all of these, in (a list of values) and exists (true or false). Metadata
 * compare by the type of the value: numbers with numbers, text with text. contains also finds an element of a
 * list. eq null also matches missing values; ne is the negation of eq. A whole address as a value of email,
 * openedBy, closedBy or participants means the person, also for contains, startsWith and endsWith. `orderBy`:
 * {path, direction}. Metadata sort as numbers, then texts, then booleans, then missing values. Ties and the
 * default: newest first.
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
  /** Id of the scenario to update. Default: a new one. */
  readonly scenarioInstanceId?: string | null | undefined;
  readonly from?: string | null | undefined;
  /** Not before `from`. */
  readonly to?: string | null | undefined;
}

export interface NewAnnotation {
  /**
   * When it begins. In a recording without dates: the time since its start, written as a time since 1970;
   * before its zero, as one before 1970.
   */
  readonly from: string;
  /** When a range ends; absent or null for a moment. */
  readonly to?: string | null | undefined;
  /** What people see on the axis. */
  readonly label: string;
  /** More words. */
  readonly text?: string | undefined;
  /** To 20; each once. */
  readonly tags?: readonly string[] | undefined;
  /** Name of the channel that it is about; absent or null: of the session. */
  readonly channel?: string | null | undefined;
}

export interface AnnotationChange {
  /**
   * When it begins. In a recording without dates: the time since its start, written as a time since 1970;
   * before its zero, as one before 1970.
   */
  readonly from?: string | undefined;
  /** When a range ends; absent or null for a moment. */
  readonly to?: string | null | undefined;
  /** What people see on the axis. */
  readonly label?: string | undefined;
  /** More words. */
  readonly text?: string | undefined;
  /** To 20; each once. */
  readonly tags?: readonly string[] | undefined;
  /** Name of the channel that it is about; absent or null: of the session. */
  readonly channel?: string | null | undefined;
}

export interface ReprocessRequest {
  /** Outputs of the parents: the run gets these alone, in every mode. Absent: as described. */
  readonly inputs?: readonly number[] | null | undefined;
}

export interface NodeConfigurationChange {
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Reprocess the node in the same transaction, as Administrators and Developers may. */
  readonly rerun?: boolean | undefined;
}

export interface IngestRequest {
  /** Path of the ingest: 1 to 8 segments of `a-z`, `0-9`, `-`, `_`. */
  readonly urlPath: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  /** Name of an Input node of the session template. */
  readonly inputNode: string;
  /** Data source for the bytes. It overrides the node’s configuration. */
  readonly dataSource?: string | undefined;
  /**
   * NewSession: each upload creates a session. LatestSession: an upload feeds the newest session of the
   * project and template that is neither frozen nor closed, or creates one.
   */
  readonly creationBehaviour?: 'NewSession' | 'LatestSession' | undefined;
  /** The accepted Content-Types; others get 415. */
  readonly ingestDataType?: 'Csv' | 'Json' | 'Binary' | 'Any' | undefined;
  /** True: uploads need no secret. Use it for trials only. */
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
  /** Segments of letters, digits, `_`, `-` and `.`, separated by colons. */
  readonly name: string;
  /** 0 string, 1 integer, 2 number, 3 bool, 4 JSON. */
  readonly valueType?: 0 | 1 | 2 | 3 | 4 | undefined;
  /** Text of at most 64 KB that parses as its type. */
  readonly value: string;
  readonly description?: string | null | undefined;
}

export interface ConfigurationChange {
  /** A name other than that of the path renames the entry. */
  readonly name?: string | null | undefined;
  readonly valueType?: 0 | 1 | 2 | 3 | 4 | null | undefined;
  readonly value?: string | null | undefined;
  readonly description?: string | null | undefined;
}

export interface SeriesQuestion {
  /** Keys or names of channels; none where only derived ones are wanted. Default: the first 64 channels. */
  readonly channels?: readonly string[] | undefined;
  /**
   * Rows from this time on, to the millisecond; those at this time count. Default: the start of the
   * recordings.
   */
  readonly from?: string | undefined;
  /**
   * Rows up to this time, to the millisecond; those at this time count. Default: the end of the recordings.
   */
  readonly to?: string | undefined;
  /** Answered as `=name`, after the channels, for each recording that has all channels of the expression. */
  readonly derived?: readonly {
    readonly name: string;
    readonly unit?: string | null | undefined;
    /**
     * At most 1000 characters and 200 numbers, channels and operations. Channels of one recording by name or
     * key, in `"` where they are more than letters, digits, `_` and `.`; `+ - * / ^`, `< <= > >= == !=` (1 or
     * 0), `abs min max sqrt sin cos atan2`, `if(condition, then, else)`, `integrate(x)` and `differentiate(x)`
     * over seconds from the start of the recording (over rows where it has no time), `lag(x, rows)`. A row is
     * empty where an operand is empty and where the result is no finite number.
     */
    readonly expression: string;
  }[] | undefined;
  /**
   * Key or name of a channel of numbers that never falls (distance), or `=name` of a derived one: points are
   * drawn over it in place of time, and rows without it are left out. With `split` it may begin again in each
   * trace.
   */
  readonly x?: string | undefined;
  /**
   * Key or name of a step channel (lap): each of its values, at most 200, makes one trace of each channel.
   */
  readonly split?: string | undefined;
  /**
   * All channels of a recording have points of the same rows, so that one can be drawn over another. Where the
   * rows are more than `maxPoints`: of each stretch of equal time the first and the last row, and the lowest
   * and the highest row of each channel. Not with `x` or `split`.
   */
  readonly sameRows?: boolean | undefined;
  /** Maximum number of points of each channel, or of each of its traces. */
  readonly maxPoints?: number | undefined;
}

export interface StatisticsQuestion {
  /** Keys or names of channels; none where only derived ones are wanted. Default: the first 64 channels. */
  readonly channels?: readonly string[] | undefined;
  /**
   * Rows from this time on, to the millisecond; those at this time count. Default: the start of the
   * recordings.
   */
  readonly from?: string | undefined;
  /**
   * Rows up to this time, to the millisecond; those at this time count. Default: the end of the recordings.
   */
  readonly to?: string | undefined;
  /** Answered as `=name`, after the channels, for each recording that has all channels of the expression. */
  readonly derived?: readonly {
    readonly name: string;
    readonly unit?: string | null | undefined;
    /**
     * At most 1000 characters and 200 numbers, channels and operations. Channels of one recording by name or
     * key, in `"` where they are more than letters, digits, `_` and `.`; `+ - * / ^`, `< <= > >= == !=` (1 or
     * 0), `abs min max sqrt sin cos atan2`, `if(condition, then, else)`, `integrate(x)` and `differentiate(x)`
     * over seconds from the start of the recording (over rows where it has no time), `lag(x, rows)`. A row is
     * empty where an operand is empty and where the result is no finite number.
     */
    readonly expression: string;
  }[] | undefined;
}

export interface ExportQuestion {
  /** Keys or names of channels; none where only derived ones are wanted. Default: the first 64 channels. */
  readonly channels?: readonly string[] | undefined;
  /**
   * Rows from this time on, to the millisecond; those at this time count. Default: the start of the
   * recordings.
   */
  readonly from?: string | undefined;
  /**
   * Rows up to this time, to the millisecond; those at this time count. Default: the end of the recordings.
   */
  readonly to?: string | undefined;
  /** Answered as `=name`, after the channels, for each recording that has all channels of the expression. */
  readonly derived?: readonly {
    readonly name: string;
    readonly unit?: string | null | undefined;
    /**
     * At most 1000 characters and 200 numbers, channels and operations. Channels of one recording by name or
     * key, in `"` where they are more than letters, digits, `_` and `.`; `+ - * / ^`, `< <= > >= == !=` (1 or
     * 0), `abs min max sqrt sin cos atan2`, `if(condition, then, else)`, `integrate(x)` and `differentiate(x)`
     * over seconds from the start of the recording (over rows where it has no time), `lag(x, rows)`. A row is
     * empty where an operand is empty and where the result is no finite number.
     */
    readonly expression: string;
  }[] | undefined;
  /** The form of the file. */
  readonly format?: 'csv' | 'parquet' | undefined;
}

export interface NewLayout {
  readonly name: string;
  /** Who sees it. */
  readonly scope: 'mine' | 'template' | 'project' | 'everyone';
  /** Required for `project`; narrows `mine`; else null. */
  readonly projectId?: number | null | undefined;
  /** Required for `template`; narrows `mine`; else null. */
  readonly sessionTemplateId?: number | null | undefined;
  readonly layout: {
    readonly version: 1;
    /** The channel of the axis; null: time. */
    readonly x?: string | null | undefined;
    /** The step channel whose values are traces. */
    readonly split?: string | null | undefined;
    readonly derived?: readonly {
      readonly name: string;
      readonly unit?: string | null | undefined;
      /**
       * At most 1000 characters and 200 numbers, channels and operations. Channels of one recording by name or
       * key, in `"` where they are more than letters, digits, `_` and `.`; `+ - * / ^`, `< <= > >= == !=` (1
       * or 0), `abs min max sqrt sin cos atan2`, `if(condition, then, else)`, `integrate(x)` and
       * `differentiate(x)` over seconds from the start of the recording (over rows where it has no time),
       * `lag(x, rows)`. A row is empty where an operand is empty and where the result is no finite number.
       */
      readonly expression: string;
    }[] | undefined;
    readonly panels: readonly {
      /**
       * `lines`: channels over the axis. `xy`: the first channel across, the others up. `histogram`: how often
       * each value is. `track`: latitude and longitude as a line. `table`: values at the cursor. `media`:
       * outputs of the session with pictures or video, in step with the cursor. `text`: words of the person
       * who arranged it. The last two have no channels.
       */
      readonly kind?: 'lines' | 'xy' | 'histogram' | 'track' | 'table' | 'media' | 'text' | undefined;
      readonly title?: string | undefined;
      readonly channels?: readonly string[] | undefined;
      /**
       * For `media`: only outputs with this in their name. Default: all. An output begins at `capturedAt` (a
       * time) or `offsetSeconds` (from the start of the dashboard) of its metadata, else at the start.
       */
      readonly output?: string | undefined;
      /** The words of `text`, shown as they are, with their line breaks; no mark-up. */
      readonly text?: string | undefined;
      /** How many of the twelve columns. */
      readonly width?: number | undefined;
      /** Pixels. */
      readonly height?: number | undefined;
    }[];
  };
}

export interface ReportPreviewRequest {
  readonly columns: readonly {
    readonly columnKey: string;
    readonly name: string;
    /** A CEL expression over the row; see the description of the route. At most 64 KB. */
    readonly expression: string;
    readonly type?: 'string' | 'number' | 'boolean' | 'date' | 'duration' | undefined;
    /** An Excel number format; empty: the default of the type. */
    readonly format?: string | undefined;
    /**
     * The source whose fields the expression may name alone: `name` for `dimension.name`. Those of the others,
     * of `annotations` and of `channels` are named with their source.
     */
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
    /** Default: the position in the list. */
    readonly order?: number | undefined;
  }[];
  readonly filters?: readonly {
    readonly filterKey: string;
    /** As that of a column. */
    readonly expression: string;
    /** Rows are kept when the expression equals this value. */
    readonly value: string | number | boolean | null;
    /**
     * The source whose fields the expression may name alone: `name` for `dimension.name`. Those of the others,
     * of `annotations` and of `channels` are named with their source.
     */
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
  }[] | undefined;
  /** Part of the name of the dashboard; for a report over sessions, of the dashboard or the session. */
  readonly dimensionNameFilter?: string | undefined;
  /**
   * Which sessions have rows: `dashboards`, those with a dashboard (default of a new report), or `sessions`,
   * all.
   */
  readonly covers?: 'dashboards' | 'sessions' | undefined;
}

export interface ReportChange {
  readonly name?: string | undefined;
  readonly configurationKey?: string | undefined;
  /** Holds 1 to 100 letters, digits, spaces, `.`, `_` and `-`, with a letter or digit at both ends. */
  readonly fileName?: string | undefined;
  /** Part of the name of the dashboard; for a report over sessions, of the dashboard or the session. */
  readonly dimensionNameFilter?: string | undefined;
  /**
   * Which sessions have rows: `dashboards`, those with a dashboard (default of a new report), or `sessions`,
   * all.
   */
  readonly covers?: 'dashboards' | 'sessions' | undefined;
  readonly setAsDefault?: boolean | undefined;
  readonly columns?: readonly {
    readonly columnKey: string;
    readonly name: string;
    /** A CEL expression over the row; see the description of the route. At most 64 KB. */
    readonly expression: string;
    readonly type?: 'string' | 'number' | 'boolean' | 'date' | 'duration' | undefined;
    /** An Excel number format; empty: the default of the type. */
    readonly format?: string | undefined;
    /**
     * The source whose fields the expression may name alone: `name` for `dimension.name`. Those of the others,
     * of `annotations` and of `channels` are named with their source.
     */
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
    /** Default: the position in the list. */
    readonly order?: number | undefined;
  }[] | undefined;
  readonly filters?: readonly {
    readonly filterKey: string;
    /** As that of a column. */
    readonly expression: string;
    /** Rows are kept when the expression equals this value. */
    readonly value: string | number | boolean | null;
    /**
     * The source whose fields the expression may name alone: `name` for `dimension.name`. Those of the others,
     * of `annotations` and of `channels` are named with their source.
     */
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
  }[] | undefined;
  /**
   * True: columns and filters that a list omits are removed. False: those in the list are updated or added.
   */
  readonly replaceConfiguration?: boolean | undefined;
}

export interface NewReport {
  /** Not `catalog` or `download`. */
  readonly key: string;
  readonly name: string;
  readonly configurationKey?: string | undefined;
  /** Holds 1 to 100 letters, digits, spaces, `.`, `_` and `-`, with a letter or digit at both ends. */
  readonly fileName?: string | undefined;
  /** Part of the name of the dashboard; for a report over sessions, of the dashboard or the session. */
  readonly dimensionNameFilter?: string | undefined;
  /**
   * Which sessions have rows: `dashboards`, those with a dashboard (default of a new report), or `sessions`,
   * all.
   */
  readonly covers?: 'dashboards' | 'sessions' | undefined;
  readonly setAsDefault?: boolean | undefined;
  readonly columns: readonly {
    readonly columnKey: string;
    readonly name: string;
    /** A CEL expression over the row; see the description of the route. At most 64 KB. */
    readonly expression: string;
    readonly type?: 'string' | 'number' | 'boolean' | 'date' | 'duration' | undefined;
    /** An Excel number format; empty: the default of the type. */
    readonly format?: string | undefined;
    /**
     * The source whose fields the expression may name alone: `name` for `dimension.name`. Those of the others,
     * of `annotations` and of `channels` are named with their source.
     */
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
    /** Default: the position in the list. */
    readonly order?: number | undefined;
  }[];
  readonly filters?: readonly {
    readonly filterKey: string;
    /** As that of a column. */
    readonly expression: string;
    /** Rows are kept when the expression equals this value. */
    readonly value: string | number | boolean | null;
    /**
     * The source whose fields the expression may name alone: `name` for `dimension.name`. Those of the others,
     * of `annotations` and of `channels` are named with their source.
     */
    readonly source?: 'dimension' | 'metadata' | 'scenarioInstance' | 'user' | 'dashboard' | undefined;
  }[] | undefined;
}

export interface NewReportSchedule {
  readonly reportKey: string;
  /** Only sessions of this project; null: of every project. */
  readonly projectId?: number | null | undefined;
  readonly format?: 'xlsx' | 'csv' | undefined;
  readonly every: 'hour' | 'day' | 'week' | 'month';
  /** Time of day in the time zone; of an hourly schedule only the minutes count. */
  readonly at?: string | undefined;
  /** The day of a weekly schedule. */
  readonly weekday?: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday' | undefined;
  /** The day of a monthly schedule; in a shorter month the last day. */
  readonly dayOfMonth?: number | undefined;
  /** Whose clock counts, with its summer time. */
  readonly timeZone?: string | undefined;
  /** Only rows of the last days, as `from` of a download; null: all. */
  readonly periodDays?: number | null | undefined;
  /** How many files are kept: the newest ones. */
  readonly keptFiles?: number | undefined;
  /** False: nothing is written. The files stay. */
  readonly enabled?: boolean | undefined;
}

export interface ReportScheduleChange {
  readonly reportKey?: string | undefined;
  /** Only sessions of this project; null: of every project. */
  readonly projectId?: number | null | undefined;
  readonly format?: 'xlsx' | 'csv' | undefined;
  readonly every?: 'hour' | 'day' | 'week' | 'month' | undefined;
  /** Time of day in the time zone; of an hourly schedule only the minutes count. */
  readonly at?: string | undefined;
  /** The day of a weekly schedule. */
  readonly weekday?: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday' | undefined;
  /** The day of a monthly schedule; in a shorter month the last day. */
  readonly dayOfMonth?: number | undefined;
  /** Whose clock counts, with its summer time. */
  readonly timeZone?: string | undefined;
  /** Only rows of the last days, as `from` of a download; null: all. */
  readonly periodDays?: number | null | undefined;
  /** How many files are kept: the newest ones. */
  readonly keptFiles?: number | undefined;
  /** False: nothing is written. The files stay. */
  readonly enabled?: boolean | undefined;
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
  /** The name that `dataSourceName` of a node refers to. */
  readonly name: string;
  readonly kind?: 's3' | undefined;
  readonly endpoint: string;
  readonly region?: string | undefined;
  readonly bucket: string;
  /** Prefix of every object key. */
  readonly prefix?: string | undefined;
  readonly accessKeyId: string;
  /** Write-only. */
  readonly secretAccessKey: string;
  /** True: the bucket is part of the path; false: part of the host name. */
  readonly forcePathStyle?: boolean | undefined;
}

export interface DataSourceChange {
  /** Must equal the name in the path: a data source cannot be renamed. */
  readonly name?: string | undefined;
  readonly kind?: 's3' | undefined;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly bucket?: string | undefined;
  /** Prefix of every object key. */
  readonly prefix?: string | undefined;
  readonly accessKeyId?: string | undefined;
  /** Write-only. */
  readonly secretAccessKey?: string | undefined;
  /** True: the bucket is part of the path; false: part of the host name. */
  readonly forcePathStyle?: boolean | undefined;
}

export interface ConcurrencyChange {
  /** Needed where a node template and a runner type have the name. */
  readonly kind?: 'nodeTemplate' | 'runnerType' | undefined;
  /** In all. 0: no task is claimed. Null: any number. */
  readonly max: number | null;
  /** Tasks of one project. */
  readonly perProject?: number | null | undefined;
  /** Tasks of one session. */
  readonly perSession?: number | null | undefined;
}

export interface WebhookRequest {
  /** Where events are sent, by POST. */
  readonly url: string;
  /** The events that are sent. */
  readonly events: readonly WebhookEvent[];
  /** Only events of this project; null: of every project, and of runners. */
  readonly projectId?: number | null | undefined;
  /** False: nothing is recorded and nothing is sent. What is pending waits. */
  readonly enabled?: boolean | undefined;
}

export type WebhookEvent = 'session.created' | 'session.settled' | 'session.closed' | 'node.succeeded' | 'node.failed' | 'output.published' | 'runner.gone' | 'report.ready';

export interface WebhookChangeRequest {
  /** Where events are sent, by POST. */
  readonly url?: string | undefined;
  /** The events that are sent. */
  readonly events?: readonly WebhookEvent[] | undefined;
  /** Only events of this project; null: of every project, and of runners. */
  readonly projectId?: number | null | undefined;
  /** False: nothing is recorded and nothing is sent. What is pending waits. */
  readonly enabled?: boolean | undefined;
}

export interface RunnerTokenRequest {
  readonly runnerTypes: readonly string[];
  /** Default: `tasks` alone. */
  readonly scopes?: readonly ('tasks' | 'debug:read')[] | null | undefined;
  /** 1 to 720 for Developers, to 8760 for Administrators; default 720. */
  readonly ttlHours?: number | null | undefined;
  /** Free text: where the token is used. */
  readonly label?: string | null | undefined;
}

export interface RunnerClaimRequest {
  /** Id of the runner instance. An instance holds one task at a time. */
  readonly instanceId: string;
  /** Names of node templates. Absent or empty: all that the token may claim. */
  readonly templates?: readonly string[] | null | undefined;
  /** Seconds to wait for a task when none is ready. */
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
  /** Id of the last fully consumed input. */
  readonly inputId: number;
  /** Stored with the node for its next task. Absent: the stored state does not change. */
  readonly state?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface RunnerRejectionRequest {
  readonly category: 'error' | 'validation' | 'memory' | 'timeout';
  /** For people, shown in the list of rejected inputs. */
  readonly reason: string;
}

export interface RunnerCompleteRequest {
  readonly outcome: 'completed' | 'no-output' | 'suspended';
  /** For an incremental node that stopped at the cap: requests a follow-up task. */
  readonly hasMore?: boolean | null | undefined;
  /** Shown with the state of the node. */
  readonly statusDetails?: string | null | undefined;
  /** Stored with the node for its next task. Absent: the stored state does not change. */
  readonly state?: Readonly<Record<string, unknown>> | null | undefined;
  /** Claims the next task with the same call. */
  readonly next?: RunnerNextRequest | null | undefined;
}

export interface RunnerNextRequest {
  /** How long to wait for a task when none is ready. */
  readonly waitSeconds?: number | undefined;
  /** Names of node templates. Absent or empty: all that the token may claim. */
  readonly templates?: readonly string[] | null | undefined;
}

export interface RunnerFailRequest {
  /** Free text, shown with the state of the node. */
  readonly reason: string;
  /** `validation` is never retried. */
  readonly category: 'error' | 'validation' | 'memory' | 'timeout';
  /** A last word for the log of the attempt, to 64 KB. */
  readonly logTail?: string | null | undefined;
  /** Claims the next task with the same call. */
  readonly next?: RunnerNextRequest | null | undefined;
}

export interface RunnerReleaseRequest {
  /** Free text. */
  readonly reason?: string | null | undefined;
  /** A last word for the log of the attempt, to 64 KB. */
  readonly logTail?: string | null | undefined;
  /** Claims the next task with the same call. */
  readonly next?: RunnerNextRequest | null | undefined;
}

export interface RunnerLogRequest {
  /** Rises with every call for the task. A repeated call sends the same again. */
  readonly sequence: number;
  readonly entries: readonly {
    /** By the clock of the runner. */
    readonly at: string;
    readonly level: 'debug' | 'info' | 'warning' | 'error';
    /** One line or more, to 8 KB. */
    readonly message: string;
    /** Further facts for programs, to 4 KB. */
    readonly fields?: Readonly<Record<string, unknown>> | null | undefined;
  }[];
}

export interface RunnerAnnotations {
  readonly annotations: readonly NewAnnotation[];
}

export interface SignInRequest {
  readonly username: string;
  readonly password: string;
  /** True: also return a refresh token. */
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
  /** True: access tokens are refused until the password is changed. */
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
  /** Alias of `newPassword`. */
  readonly password?: string | undefined;
  /** Required from everyone but Administrators. */
  readonly currentPassword?: string | undefined;
  /** True: the user must change it at the next sign-in. For other users only. */
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
  /** The platform's id, used as `OwnerId` of a project. */
  readonly id: number;
  /** Empty when the authentication service no longer knows the user. */
  readonly email: string;
  readonly type: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
  readonly isActive: boolean;
  /** When the platform first saw the person. */
  readonly createdAt: string;
  /** Null. */
  readonly externalB2CId: string | null;
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
  /** Paths into the metadata of its sessions. */
  readonly pinnedMetadata: readonly string[];
  /**
   * -10 to 10, at first 0. Those of project and session are added, to at most 10; each step moves the
   * session's queued runs by a minute of waiting. A change moves what is queued.
   */
  readonly priority: number;
  readonly owner: {
    readonly id: number;
    /** Empty when the caller may not see the person. */
    readonly email: string;
    readonly type: 'Administrator' | 'Instructor' | 'Trainee' | 'Developer';
    /** True, too, when the caller may not see the person. */
    readonly isActive: boolean;
    readonly createdAt: string;
    /** Null. */
    readonly externalB2CId: string | null;
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
  /** Belongs to the template; a session gets its own node instance ids. */
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
  /** The version that says what the file says: no new one when the file changes nothing. */
  readonly version: number;
  /** False when the file changes nothing. */
  readonly changed: boolean;
}

export interface InvalidSessionTemplate {
  readonly status: 'error';
  readonly message: string;
  readonly errors: readonly DocumentIssue[];
}

export interface DocumentIssue {
  /** JSON path of the value. */
  readonly path: string;
  readonly message: string;
}

export interface SessionTemplateImportable {
  readonly name: string;
  /** False when the template of this name was updated. */
  readonly created: boolean;
  /** The version that says what the file says: no new one when the file changes nothing. */
  readonly version: number;
  /** False when the file changes nothing. */
  readonly changed: boolean;
}

export interface SessionTemplateVersions {
  readonly versions: readonly SessionTemplateVersionHead[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface SessionTemplateVersionHead {
  /** From 1; an import that changes nothing makes none. */
  readonly version: number;
  readonly createdAt: string;
  /** Null: the platform, or an import of before versions were kept. */
  readonly createdBy: {
    readonly id: string;
    /** Null when the caller may not see the person. */
    readonly name: string | null;
  } | null;
  /** `TemplateVersion` of the file. */
  readonly templateVersion: string;
  readonly description: string;
  /** How many nodes. */
  readonly nodes: number;
}

export interface SessionTemplateVersion {
  /** From 1; an import that changes nothing makes none. */
  readonly version: number;
  readonly createdAt: string;
  /** Null: the platform, or an import of before versions were kept. */
  readonly createdBy: {
    readonly id: string;
    /** Null when the caller may not see the person. */
    readonly name: string | null;
  } | null;
  /** As a template definition file, which can be imported again. */
  readonly definition: {
    /** `TemplateVersion` of the file. */
    readonly TemplateVersion: string;
    readonly Name: string;
    readonly Description: string;
    readonly Configuration: Readonly<Record<string, unknown>>;
    readonly Nodes: readonly {
      readonly Name: string;
      readonly NodeTemplateName: string;
      readonly DefaultConfiguration: Readonly<Record<string, unknown>>;
      readonly Parents: readonly string[];
    }[];
  };
}

export interface SessionTemplateChanges {
  readonly sessionTemplateId: number;
  readonly version: number;
  /** Null: there is no version before, and everything is new. */
  readonly since: {
    readonly sessionTemplateId: number;
    readonly version: number;
  } | null;
  readonly fields: readonly {
    readonly field: 'templateVersion' | 'description' | 'configuration';
    /** A text, or the configuration; null: there is no version before. */
    readonly before: unknown;
    /** In the same form. */
    readonly after: unknown;
  }[];
  /**
   * A node of another node template is removed and added. The graph of a template never changes: versions of
   * one template differ in configurations.
   */
  readonly nodes: readonly {
    /** Name of the node. */
    readonly node: string;
    readonly kind: 'configuration' | 'added' | 'removed' | 're-parented';
    /** The configuration, or of a node with other parents their names; null: no such node. */
    readonly before: unknown;
    /** In the same form; null: the node is removed. */
    readonly after: unknown;
  }[];
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
    /** No longer in the manifest; kept for the sessions that use it. */
    readonly retired: boolean;
  }[];
  readonly nodeTemplates: readonly {
    readonly name: string;
    readonly runnerType: string;
    readonly type: string;
    readonly description: string;
    /** No longer in the manifest; kept for the sessions that use it. */
    readonly retired: boolean;
  }[];
  /** The manifest in a form that can be published again. Only for the feature of the query, else null. */
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

export interface SessionViewList {
  readonly views: readonly SessionView[];
}

export interface SessionView {
  readonly id: string;
  readonly name: string;
  readonly scope: 'mine' | 'project' | 'everyone';
  readonly projectId: number | null;
  readonly query: string;
  /** Whether the caller saved it. */
  readonly isOwn: boolean;
  /** Where the caller may know it. */
  readonly createdByName: string | null;
  readonly createdAt: string;
}

export interface Session {
  readonly id: string;
  readonly name: string;
  /** The address if the caller may see the person, else an identifier. */
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
  /** The creator of the session. */
  readonly userId: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly sessionUsers: readonly SessionUser[];
  readonly nodeInstances: readonly SessionNodeInstance[];
  /** The session template says something else by now than when the session took it: see adopt-template. */
  readonly templateChanged: boolean;
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
  /** Inputs that a runner rejected; see their list. */
  readonly rejectedInputs: number;
  readonly parentIds: readonly number[];
  /** A JSON document as text. */
  readonly configuration: string;
}

export interface SessionDetails {
  readonly id: string;
  readonly name: string;
  /** The address if the caller may see the person, else an identifier. */
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
  /** The creator of the session. */
  readonly userId: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly sessionUsers: readonly SessionUser[];
  readonly nodeInstances: readonly SessionNodeInstance[];
  /** The session template says something else by now than when the session took it: see adopt-template. */
  readonly templateChanged: boolean;
  readonly createdAt: string;
  /**
   * `failed`: a node is Failed. `running`: else a run is queued, held or waits. `notStarted`: nothing was ever
   * published. `done`: else.
   */
  readonly state: 'notStarted' | 'running' | 'failed' | 'done';
  readonly frozen: boolean;
  /**
   * The priority of the session alone. -10 to 10, at first 0. Those of project and session are added, to at
   * most 10; each step moves the session's queued runs by a minute of waiting. A change moves what is queued.
   */
  readonly priority: number;
  /** Number of nodes by state; states that do not occur are omitted. */
  readonly nodeCounts: Readonly<Record<string, number>>;
  /** The bytes of the outputs as they are now, as stored. */
  readonly outputBytes: number;
  /**
   * When something was last published, queued or ended, or the session was frozen or closed: to ten seconds.
   */
  readonly lastActivityAt: string;
  readonly owner: {
    /** The creator. */
    readonly id: string;
    /** Null when the caller may not see the person. */
    readonly name: string | null;
  };
  /** The values at the paths that the project pins, where there is one. */
  readonly pinnedMetadata: readonly {
    readonly path: string;
    readonly value: unknown;
  }[];
  /** Path of the newest dashboard in the console. */
  readonly dashboardUrl: string | null;
}

export interface UpdatedSession {
  readonly id: string;
  readonly name: string;
  /** The address if the caller may see the person, else an identifier. */
  readonly email: string;
  readonly project_id: number;
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
  readonly session_template_id: number;
  readonly session_template: {
    readonly name: string;
    readonly description: string;
    /** A JSON document as text, as stored. */
    readonly configuration: string;
  };
  readonly simulation_name: string | null;
  readonly scenarios: readonly {
    readonly simulation_id: string;
    readonly session_id: string;
    readonly scenario_name: string;
    readonly scenario_instance_id: string;
    readonly from: string | null;
    readonly to: string | null;
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
  /** From the metadata key `logoUrl`, else empty. */
  readonly logo_url: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly session_users: readonly {
    readonly id: number;
    /** Identifier of the creator or of a participant. */
    readonly user_id: string;
    readonly created_at: string;
  }[];
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
    /** Inputs that a runner rejected; see their list. */
    readonly rejected_inputs: number;
    readonly parent_ids: readonly number[];
    /** A JSON document as text. */
    readonly configuration: string;
  }[];
  /** The only Input node, or the one named by the template. */
  readonly default_ingestion_node_id: number | null;
}

export interface SessionProgress {
  readonly sessionId: string;
  readonly nodeInstances: readonly NodeInstanceProgress[];
  readonly summary: {
    readonly total: number;
    /** Number of nodes by state; states that do not occur are omitted. */
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
  /** Inputs that a runner rejected; see their list. */
  readonly rejectedInputs: number;
  readonly parentIds: readonly number[];
}

export interface SessionList {
  readonly sessions: readonly SessionListRow[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  /**
   * At most 10000 are counted with a filter by state, owner or time and of the caller's own, and of more than
   * 2000 that a search matches so many may be; false: there are more. The count of a whole page is then at
   * least one more than the sessions up to its end.
   */
  readonly totalCountIsExact: boolean;
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
  /**
   * `failed`: a node is Failed. `running`: else a run is queued, held or waits. `notStarted`: nothing was ever
   * published. `done`: else.
   */
  readonly state: 'notStarted' | 'running' | 'failed' | 'done';
  readonly frozen: boolean;
  /**
   * The priority of the session alone. -10 to 10, at first 0. Those of project and session are added, to at
   * most 10; each step moves the session's queued runs by a minute of waiting. A change moves what is queued.
   */
  readonly priority: number;
  /** Number of nodes by state; states that do not occur are omitted. */
  readonly nodeCounts: Readonly<Record<string, number>>;
  /** The bytes of the outputs as they are now, as stored. */
  readonly outputBytes: number;
  /**
   * When something was last published, queued or ended, or the session was frozen or closed: to ten seconds.
   */
  readonly lastActivityAt: string;
  readonly owner: {
    /** The creator. */
    readonly id: string;
    /** Null when the caller may not see the person. */
    readonly name: string | null;
  };
  /** The values at the paths that the project pins, where there is one. */
  readonly pinnedMetadata: readonly {
    readonly path: string;
    readonly value: unknown;
  }[];
  /** Path of the newest dashboard in the console. */
  readonly dashboardUrl: string | null;
}

export interface SessionCounts {
  readonly all: SessionCount;
  readonly running: SessionCount;
  readonly failed: SessionCount;
  readonly mine: SessionCount;
}

export interface SessionCount {
  readonly count: number;
  /** False: there are more. */
  readonly isExact: boolean;
}

export interface SessionMetadataKeys {
  readonly keys: readonly SessionMetadataKey[];
}

export interface SessionMetadataKey {
  /** As a session query takes it. */
  readonly path: string;
  /** How many of the newest 500 sessions have a value there. */
  readonly sessions: number;
  readonly samples: readonly (string | number | boolean)[];
}

export interface ProjectStorage {
  /** When the sessions were added up. */
  readonly measuredAt: string;
  readonly projects: readonly {
    readonly projectId: number;
    readonly projectTitle: string;
    readonly sessions: number;
    readonly frozenSessions: number;
    /** The bytes of the outputs as they are now, as stored. */
    readonly outputBytes: number;
    readonly newestSessionAt: string | null;
  }[];
}

export interface SharedSession {
  readonly id: string;
  readonly name: string;
  /** The address if the caller may see the person, else an identifier. */
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
  /** The creator of the session. */
  readonly userId: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly sessionUsers: readonly SessionUser[];
  /** The session template says something else by now than when the session took it: see adopt-template. */
  readonly templateChanged: boolean;
  readonly createdAt: string;
  readonly node_instances: readonly SessionNodeInstance[];
}

export interface CloseResult {
  readonly id: string;
  readonly status: 'closed';
  readonly participantCount: number;
  readonly closedAt: string;
  /** The address if the caller may see the person, else an identifier. */
  readonly closedBy: string;
}

export interface SessionRepaired {
  readonly sessionId: string;
  /** Number of node instances that got a run which was due. */
  readonly planned: number;
  /** `running`: the workflow was notified; `started`: it was missing; `restarted`: it could not continue. */
  readonly workflow: 'running' | 'started' | 'restarted';
}

export interface TemplateAdoption {
  readonly sessionTemplateId: number;
  readonly sessionTemplateName: string;
  readonly dryRun: boolean;
  readonly changes: readonly {
    /** Name of the node. */
    readonly node: string;
    readonly kind: 'configuration' | 'added' | 'removed' | 're-parented';
    /** The configuration, or of a node with other parents their names; null: no such node. */
    readonly before: unknown;
    /** In the same form; null: the node is removed. */
    readonly after: unknown;
    /** Present where people changed the configuration in this session: their change goes. */
    readonly edited?: boolean | undefined;
  }[];
}

export interface TemplateNotAdoptable {
  readonly status: 'error';
  readonly message: string;
  readonly refusals: readonly {
    /** Null: the session itself refuses. */
    readonly node: string | null;
    readonly message: string;
  }[];
}

export interface SessionActivity {
  readonly entries: readonly {
    readonly at: string;
    /** The id of an operation of this document. */
    readonly action: string;
    readonly actor: {
      readonly kind: 'user' | 'device' | 'runner' | 'ingest' | 'platform';
      readonly id: string | null;
      /** Name of a person whom the caller may see; null for others, and for what is no person. */
      readonly name: string | null;
    };
    readonly object: {
      readonly type: string;
      readonly id: string | null;
    };
  }[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface SessionQueryReply {
  readonly status: boolean;
  readonly message: 'OK';
  readonly template: {
    readonly sessions: readonly SessionQueryRow[];
    readonly totalCount: number;
    /**
     * With a filter, of more than 2000 sessions so many may be counted; false: there are more. The count of a
     * whole page is then at least one more than the sessions up to its end, so that a caller that reads page
     * after page reaches the last.
     */
    readonly totalCountIsExact: boolean;
    readonly limit: number;
    readonly offset: number;
  };
}

export interface SessionQueryRow {
  readonly id: string;
  readonly name: string;
  /** The address if the caller may see the person, else an identifier. */
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
  readonly status: boolean;
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
  readonly createdAt: string;
  readonly dimensions: readonly SessionDimension[];
}

export interface AnnotationList {
  readonly annotations: readonly Annotation[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface Annotation {
  readonly id: string;
  readonly from: string;
  readonly to: string | null;
  readonly label: string;
  readonly text: string;
  readonly tags: readonly string[];
  readonly channel: string | null;
  readonly source: 'person' | 'runner';
  /** Id of the person; of what a runner made, the id of the run. */
  readonly createdBy: string | null;
  /** Name of the person, where the caller may know it; of what a runner made, the name of its node. */
  readonly createdByName: string | null;
  readonly createdAt: string;
}

export interface NodeOutput {
  readonly id: number;
  readonly nodeInstanceId: number;
  /** A JSON document as text. */
  readonly configuration: string;
  /** The revision of the node’s configuration, counted from 1. */
  readonly configurationRevision: number;
  readonly createdAt: string;
  readonly dataSourceId: number;
  /** Key of the object below the data source's prefix. */
  readonly dataPath: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Size as stored. */
  readonly sizeBytes: number;
  /** SHA-256 of the bytes as stored; null for multi-part outputs. */
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
  /** Name of the queue; informational. */
  readonly stream: string;
  /** Name of the project in the queue; informational. */
  readonly subject: string;
}

export interface DownloadAddress {
  /** Path at the address of the platform. */
  readonly address: string;
  readonly expiresAt: string;
}

export interface SessionOutputs {
  readonly outputs: readonly ListedOutput[];
  /** Outputs that match, on all pages. */
  readonly totalCount: number;
  /** False: there are more. */
  readonly totalCountIsExact: boolean;
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface ListedOutput {
  readonly id: number;
  readonly nodeInstanceId: number;
  /** The revision of the node’s configuration, counted from 1. */
  readonly configurationRevision: number;
  readonly createdAt: string;
  readonly dataSourceId: number;
  /** Key of the object below the data source's prefix. */
  readonly dataPath: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Size as stored. */
  readonly sizeBytes: number;
  /** SHA-256 of the bytes as stored; null for multi-part outputs. */
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly dataSource: DataSource;
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
  /** Configuration of the node when the output was written; a JSON document as text. */
  readonly configuration: string;
  /** The revision of the configuration. */
  readonly configurationRevision: number;
  readonly nodeTemplate: {
    readonly name: string;
    readonly runnerType: string;
    readonly feature: string | null;
    readonly featureVersion: string | null;
  };
  /** An upload has no run, no runner and no inputs. */
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
   * while its run is open, or when its run did not complete.
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
    /** True: first consumed by this run. False: the parent's newest output at that time. */
    readonly isNew: boolean;
  }[];
}

export interface Reprocess {
  readonly nodeInstanceId: number;
  readonly status: 'queued';
  readonly message: string;
}

export interface RejectedInputs {
  readonly rejectedInputs: readonly {
    /** The input; a reprocess takes it in `inputs`. */
    readonly outputId: number;
    /** The node whose output it is. */
    readonly nodeInstanceId: number;
    readonly nodeName: string;
    readonly outputIdentifier: string;
    /** The file of that name, or what was made of it; null: unknown. */
    readonly fileName: string | null;
    readonly contentType: string | null;
    readonly sizeBytes: number;
    readonly category: 'error' | 'validation' | 'memory' | 'timeout';
    readonly reason: string;
    /** The run that rejected it. */
    readonly runId: string;
    readonly attempt: number;
    readonly rejectedAt: string;
  }[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface NodeExplanation {
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly sessionId: string;
  readonly state: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
  /** Stable code; more may be added. */
  readonly why: 'held' | 'frozen' | 'waits-for-retry' | 'no-runner' | 'runners-drained' | 'concurrency-limit' | 'queued' | 'waits-for-upload' | 'uploads-queued' | 'failed' | 'suspended' | 'waits-for-parents' | 'up-to-date' | 'being-planned';
  /** A readable sentence. */
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
      /** It has published outputs that the node has not consumed. */
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
      /** Runs of the same node template; counted to 1,000. */
      readonly tasksAhead: number;
    } | null;
    readonly heldBy: {
      readonly instanceId: string;
      readonly leaseExpiresAt: string;
      /** As the last heartbeat reported it. */
      readonly progress: {
        readonly done: number;
        readonly total: number | null;
        readonly unit: string | null;
      } | null;
      /** Above the watermark when it was claimed; null unless the node is incremental. */
      readonly pendingInputs: number | null;
    } | null;
    readonly lastRun: {
      readonly id: string;
      readonly outcome: string;
      readonly statusDetails: string;
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly endedAt: string | null;
    } | null;
    /** Null when the platform's own workers run the node. */
    readonly runners: {
      readonly runnerType: string;
      readonly lastSeenAt: string | null;
      /** Present instances that claim tasks of this node template. */
      readonly recent: number;
      /** Present instances that are not drained. */
      readonly recentBusy: number;
      readonly recentDrained: number;
    } | null;
    /** Limits of what is held at once that leave no place for its queued run. */
    readonly fullLimits: readonly {
      readonly kind: 'nodeTemplate' | 'runnerType';
      readonly name: string;
      readonly scope: 'all' | 'project' | 'session';
      readonly max: number;
      readonly held: number;
    }[];
    /** Inputs that its runners rejected; see their list. */
    readonly rejectedInputs: number;
  };
}

export interface NodeConfiguration {
  /** Counts from 1, which is what the session template gave. */
  readonly revision: number;
  readonly configuration: Readonly<Record<string, unknown>>;
}

export interface NodeConfigurationRefused {
  readonly status: 'error';
  readonly message: string;
  readonly errors: readonly DocumentIssue[];
}

export interface NodeConfigurationRevisions {
  readonly revisions: readonly {
    /** Counts from 1, which is what the session template gave. */
    readonly revision: number;
    readonly configuration: Readonly<Record<string, unknown>>;
    /** User id; null: the session template, when the session was made. */
    readonly changedBy: string | null;
    /** Name of that person; null when the caller may not see them. */
    readonly changedByName: string | null;
    readonly changedAt: string;
  }[];
  /** `before` of the next page; null: that was all. */
  readonly next: number | null;
}

export interface NodeConfigurationSchema {
  readonly nodeTemplate: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface ResumableUpload {
  readonly id: string;
  readonly nodeInstanceId: number;
  /** Null: the platform makes one. */
  readonly outputIdentifier: string | null;
  readonly sizeBytes: number;
  /** Bytes that are stored. */
  readonly offsetBytes: number;
  /** `finishing`: every byte is stored, and the output is being made. */
  readonly state: 'receiving' | 'finishing' | 'published' | 'queued';
  /** Null until it is published. */
  readonly outputId: number | null;
  readonly expiresAt: string;
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
  /** Why the run was created; `follow-up`: after a task that ended with `hasMore`. */
  readonly reason: 'input' | 'reprocess' | 'follow-up';
  /**
   * `queued`: may be claimed. `held`: a runner works on it. `waiting`: until `nextAttemptAt`. Else its final
   * outcome.
   */
  readonly state: 'queued' | 'held' | 'waiting' | 'failed' | 'cancelled' | 'completed' | 'no-output' | 'suspended';
  /** State of the node instance. */
  readonly nodeState: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
  readonly statusDetails: string;
  /** Number of the current or last attempt. */
  readonly attempt: number;
  /** Increases when an operator retries the run. */
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
  /** It failed or was cancelled, no later run of the node has replaced it, and the session is not frozen. */
  readonly retryable: boolean;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly nextAttemptAt: string | null;
  /** The runner instance that works on it. */
  readonly heldBy: {
    readonly instanceId: string;
    readonly leaseExpiresAt: string;
    readonly phase: string | null;
    readonly message: string | null;
    /** As its last heartbeat reported it, like `phase` and `message`. */
    readonly progress: {
      readonly done: number;
      readonly total: number | null;
      readonly unit: string | null;
    } | null;
  } | null;
  /** Oldest first. */
  readonly attempts: readonly NodeRunAttempt[];
}

export interface NodeRunAttempt {
  /** Number of the attempt in the run, from 1. */
  readonly number: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** `lost`: its lease ended. Null while it is open. */
  readonly outcome: 'completed' | 'no-output' | 'suspended' | 'failed' | 'lost' | 'cancelled' | null;
  /** Category of a failed or lost attempt. */
  readonly category: 'error' | 'validation' | 'memory' | 'timeout' | null;
  /** Reason of the failure, or the message of its runner. */
  readonly reason: string;
  readonly nextAttemptAt: string | null;
  /** Who held it last; null until its first claim. */
  readonly runner: {
    readonly instanceId: string;
    /** Label of its token; null for accounts. */
    readonly name: string | null;
    /** As the runner reports it. */
    readonly version: string | null;
  } | null;
}

export interface FailedRunsRetried {
  readonly sessionId: string;
  /** Number of retried runs. */
  readonly retried: number;
}

export interface NodeRunDetails {
  readonly id: string;
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** Why the run was created; `follow-up`: after a task that ended with `hasMore`. */
  readonly reason: 'input' | 'reprocess' | 'follow-up';
  /**
   * `queued`: may be claimed. `held`: a runner works on it. `waiting`: until `nextAttemptAt`. Else its final
   * outcome.
   */
  readonly state: 'queued' | 'held' | 'waiting' | 'failed' | 'cancelled' | 'completed' | 'no-output' | 'suspended';
  /** State of the node instance. */
  readonly nodeState: 'NeverBegan' | 'Processing' | 'Failed' | 'Succeeded' | 'Suspended' | 'Pending' | 'Unknown';
  readonly statusDetails: string;
  /** Number of the current or last attempt. */
  readonly attempt: number;
  /** Increases when an operator retries the run. */
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
  /** It failed or was cancelled, no later run of the node has replaced it, and the session is not frozen. */
  readonly retryable: boolean;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly nextAttemptAt: string | null;
  /** The runner instance that works on it. */
  readonly heldBy: {
    readonly instanceId: string;
    readonly leaseExpiresAt: string;
    readonly phase: string | null;
    readonly message: string | null;
    /** As its last heartbeat reported it, like `phase` and `message`. */
    readonly progress: {
      readonly done: number;
      readonly total: number | null;
      readonly unit: string | null;
    } | null;
  } | null;
  /** Oldest first. */
  readonly attempts: readonly NodeRunAttempt[];
  /** The configuration of the node, as the run has it. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly configurationRevision: number;
  /**
   * What the run was given, oldest first, to 1,000: as those outputs stood at its first claim. Empty before
   * it.
   */
  readonly inputs: readonly NodeRunInput[];
  /**
   * How many of the inputs that were new to it are no longer there: retention has removed them, or newer bytes
   * have replaced them.
   */
  readonly inputsRemoved: number;
  /** What the run has written, to 1,000. */
  readonly outputs: readonly {
    readonly outputId: number;
    readonly outputIdentifier: string;
    /** The file of that name, or what was made of it; null: unknown. */
    readonly fileName: string | null;
    readonly contentType: string | null;
    readonly sizeBytes: number;
    readonly sha256: string | null;
    /** False while it is staged. */
    readonly published: boolean;
    readonly createdAt: string;
  }[];
  /** Who cancelled or retried it, oldest first. */
  readonly actions: readonly {
    readonly at: string;
    readonly attempt: number;
    readonly action: 'cancel' | 'retry';
    readonly userId: string;
    /** Name of the person; null when the caller may not see them. */
    readonly name: string | null;
  }[];
}

export interface NodeRunInput {
  readonly outputId: number;
  /** Rises when the bytes of the output are replaced. */
  readonly version: number;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly outputIdentifier: string;
  /** The file of that name, or what was made of it; null: unknown. */
  readonly fileName: string | null;
  readonly contentType: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly createdAt: string;
}

export interface RunLogPage {
  readonly entries: readonly RunLogEntry[];
  /** Send it as `after` for what follows. */
  readonly next: number;
  /** The run has ended, and nothing follows this page. */
  readonly complete: boolean;
}

export interface NodeRunReplay {
  /** New at every claim. */
  readonly taskId: string;
  /** The same for all attempts of a run. */
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
  /** The task is lost at this time. Every call for it renews the lease. */
  readonly leaseExpiresAt: string;
  /** Interval of heartbeats. */
  readonly heartbeatIntervalSeconds: number;
  readonly incremental: RunnerIncremental;
  /**
   * W3C trace context of the run; null without tracing. Send it as header `traceparent` in every call for the
   * task, so that the calls join one trace.
   */
  readonly traceparent: string | null;
  /**
   * As that run sees them, oldest first. Of more than 1000 those since the watermark, the latest, and the
   * oldest of the others.
   */
  readonly inputs: readonly RunnerInput[];
  /** The output ids of the inputs, by the mode in which a runner lists them. */
  readonly modes: {
    /** As `since-watermark` listed them for the task. */
    readonly 'since-watermark': readonly number[];
    /** As `latest` listed them for the task. */
    readonly latest: readonly number[];
    /** As `all` listed them for the task. */
    readonly all: readonly number[];
  };
  readonly inputsTruncated: boolean;
  /**
   * How many of the inputs that were new to it are no longer there: retention has removed them, or newer bytes
   * have replaced them.
   */
  readonly inputsRemoved: number;
  /** The state of the node, as it stood at the claim. */
  readonly state: Readonly<Record<string, unknown>> | null;
  /** The newest output of the node, as it stood at the claim. */
  readonly previousOutput: RunnerInput | null;
}

export interface RunnerIncremental {
  /** Id of the last fully consumed input. */
  readonly watermark: number | null;
  /** Inputs of this task above the watermark. */
  readonly pendingInputs: number;
  /** Maximum number of inputs that `since-watermark` lists for one task. */
  readonly maxInputsPerTask: number;
}

export interface RunnerInput {
  /** Id of the input, also used as watermark. */
  readonly outputId: number;
  /** The node that wrote it. */
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  /** `gzip` or null. */
  readonly contentEncoding: string | null;
  /** Size as stored, before decoding. */
  readonly sizeBytes: number;
  /** Null for multi-part outputs. */
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
}

export interface WorkflowUi {
  /** Address of the Temporal UI; null when `TEMPORAL_UI_URL` is not set. */
  readonly url: string | null;
  readonly namespace: string;
}

export interface Ingest {
  readonly id: number;
  readonly urlPath: string;
  /** Upload path. */
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
  /** The owner of the sessions. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface IngestWithSecret {
  readonly id: number;
  readonly urlPath: string;
  /** Upload path. */
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
  /** The owner of the sessions. */
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

export interface IngestUpload {
  readonly id: string;
  /** Null until the ingest is performed. */
  readonly nodeInstanceId: number | null;
  /** Null: the platform makes one. */
  readonly outputIdentifier: string | null;
  readonly sizeBytes: number;
  /** Bytes that are stored. */
  readonly offsetBytes: number;
  /** `finishing`: every byte is stored, and the output is being made. */
  readonly state: 'receiving' | 'finishing' | 'published' | 'queued';
  /** Null until it is published. */
  readonly outputId: number | null;
  readonly expiresAt: string;
  /** The session that was made or fed. Null until the ingest is performed. */
  readonly sessionId: string | null;
}

/**
 * Entries by the first, the second and the remaining segments of their names. A name of one segment is in the
 * group General; the last key is empty when no segment remains.
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
      /** Path in the console. */
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
    /** Name of the first member; their identifier when the name cannot be resolved. */
    readonly name: string;
    /** Address of the first member; empty when it cannot be resolved. */
    readonly email: string;
    readonly title: string;
    readonly sessionId: string;
    readonly sessionName: string;
    readonly projectId: number;
    readonly projectTitle: string;
    readonly dashboardName: string;
    readonly dashboardVersion: string;
    /** Path in the console. */
    readonly url: string;
    readonly from: string | null;
    readonly to: string | null;
    /** Name of the newest scenario. */
    readonly scenarioName: string | null;
    /** Id of the newest scenario. */
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
    /** `row-number`: the recording has no time; its rows are numbered from 0, one a millisecond. */
    readonly basis: 'column' | 'row-number';
  };
  readonly rowCount: number;
  readonly groups: readonly {
    readonly id: string;
    readonly name: string;
  }[];
  readonly channels: readonly DashboardChannel[];
}

export interface DashboardChannel {
  /** `<outputId>:<channelId>`, as the series route accepts it. */
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
  /** Its key; `=name` of a derived channel. */
  readonly channel: string;
  readonly name: string;
  readonly unit: string | null;
  /** The recording of a derived channel. */
  readonly outputId?: number | undefined;
  /** With `split`: its value, and the times of its first and last row. */
  readonly trace?: {
    readonly value: number | string | boolean;
    readonly from: string;
    readonly to: string;
  } | undefined;
  /** With `x`: its values at the points. */
  readonly x?: readonly number[] | undefined;
  /** Milliseconds since 1970, or since the start of the recording. */
  readonly times: readonly number[];
  readonly values: readonly (number | string | boolean | null)[];
}

export interface InvalidDerived {
  readonly status: 'error';
  readonly message: string;
  /** The faults, where a derived channel has some. */
  readonly errors?: readonly {
    /** JSON path of the value. */
    readonly path: string;
    readonly message: string;
    /** Characters of the expression before the fault. */
    readonly position?: number | undefined;
  }[] | undefined;
}

export interface StatisticsReply {
  readonly dimensionId: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly statistics: readonly ChannelStatistics[];
}

export interface ChannelStatistics {
  readonly key: string;
  readonly name: string;
  readonly unit: string | null;
  /** The recording of a derived channel. */
  readonly outputId?: number | undefined;
  /** Rows with a value. */
  readonly count: number;
  /** Rows without one. */
  readonly missing: number;
  readonly min: {
    readonly value: number;
    /** The time of the first row that has it, in whole milliseconds. */
    readonly at: string;
  } | null;
  readonly max: {
    readonly value: number;
    /** The time of the first row that has it, in whole milliseconds. */
    readonly at: string;
  } | null;
  /** Each row with a value counts alike, however long it lasts. */
  readonly mean: number | null;
  /**
   * The standard deviation of the sample (divided by the number of values less one); null below two values,
   * and where squares of the values are beyond the largest number.
   */
  readonly standardDeviation: number | null;
  /**
   * Texts and truth values by the time that they last, the longest 100 first. Null for numbers, for texts that
   * hardly repeat, and for recordings whose rows are not in the order of time.
   */
  readonly states: readonly {
    readonly value: string | boolean;
    /** Time from its rows to the rows behind them, in milliseconds. */
    readonly ms: number;
    /** Its part of the time with any value, 0 to 1. */
    readonly share: number;
  }[] | null;
}

export interface LayoutList {
  readonly layouts: readonly LayoutHead[];
}

export interface LayoutHead {
  readonly id: number;
  readonly name: string;
  readonly scope: 'mine' | 'template' | 'project' | 'everyone';
  readonly projectId: number | null;
  readonly sessionTemplateId: number | null;
  /** Counts its changes from 1; the `ETag` of the layout. */
  readonly revision: number;
  /** Whether the caller may change and delete it. */
  readonly mayChange: boolean;
  readonly updatedAt: string;
}

export interface Layout {
  readonly id: number;
  readonly name: string;
  readonly scope: 'mine' | 'template' | 'project' | 'everyone';
  readonly projectId: number | null;
  readonly sessionTemplateId: number | null;
  /** Counts its changes from 1; the `ETag` of the layout. */
  readonly revision: number;
  /** Whether the caller may change and delete it. */
  readonly mayChange: boolean;
  readonly updatedAt: string;
  /** As it was saved, with defaults filled in. */
  readonly layout: Readonly<Record<string, unknown>>;
}

export interface FittingLayouts {
  /** The first one opens. */
  readonly layouts: readonly LayoutHead[];
  /** The first; null where none fits. */
  readonly opens: Layout | null;
}

export interface ReportCatalog {
  readonly reports: readonly {
    readonly key: string;
    readonly name: string;
    readonly configurationKey: string;
  }[];
  readonly defaultReport: string;
}

export interface ReportPreview {
  readonly columns: readonly string[];
  /** Null: an empty cell. A duration is in seconds. */
  readonly rows: readonly (readonly (string | number | boolean | null)[])[];
}

export interface ReportNames {
  readonly sources: readonly {
    readonly name: string;
    /** Null: any name. Of `annotations`, the fields of each. */
    readonly fields: readonly string[] | null;
  }[];
  /** `size(` is called with a value, `.size(` behind one. */
  readonly functions: readonly string[];
  /**
   * At most 500 channels of the newest 50 dashboards, the most frequent first, with the number of dashboards.
   */
  readonly channels: readonly {
    readonly name: string;
    readonly unit: string | null;
    readonly dashboards: number;
  }[];
  readonly channelFields: readonly string[];
}

export interface Report {
  readonly key: string;
  readonly name: string;
  readonly configurationKey: string;
  readonly fileName: string;
  readonly dimensionNameFilter: string;
  readonly covers: 'dashboards' | 'sessions';
  readonly isDefault: boolean;
  /** Sorted by order. */
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
  /** Counts its changes from 1; the `ETag` of the definition. */
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ReportScheduleList {
  readonly schedules: readonly ReportSchedule[];
}

export interface ReportSchedule {
  readonly reportKey: string;
  /** Only sessions of this project; null: of every project. */
  readonly projectId: number | null;
  readonly format: 'xlsx' | 'csv';
  readonly every: 'hour' | 'day' | 'week' | 'month';
  /** Time of day in the time zone; of an hourly schedule only the minutes count. */
  readonly at: string;
  /** The day of a weekly schedule. */
  readonly weekday: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';
  /** The day of a monthly schedule; in a shorter month the last day. */
  readonly dayOfMonth: number;
  /** Whose clock counts, with its summer time. */
  readonly timeZone: string;
  /** Only rows of the last days, as `from` of a download; null: all. */
  readonly periodDays: number | null;
  /** How many files are kept: the newest ones. */
  readonly keptFiles: number;
  /** False: nothing is written. The files stay. */
  readonly enabled: boolean;
  readonly id: string;
  /** Null: it is disabled. */
  readonly nextAt: string | null;
  /** Id of the account. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ReportFileList {
  readonly files: readonly ReportFile[];
  /** `before` of the next page; null on the last one. */
  readonly next: number | null;
}

export interface ReportFile {
  readonly id: string;
  readonly scheduleId: string;
  readonly reportKey: string;
  readonly reportName: string;
  readonly projectId: number | null;
  readonly format: 'xlsx' | 'csv';
  readonly state: 'running' | 'ready' | 'failed';
  /** The time of the schedule. */
  readonly dueAt: string;
  readonly endedAt: string | null;
  readonly fileName: string | null;
  readonly rows: number | null;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  /** Why it failed. */
  readonly error: string | null;
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
  /** The sessions that back it; session lists do not show them. */
  readonly instances: readonly {
    readonly id: number;
    readonly sessionId: string;
    readonly createdAt: string;
  }[];
}

export interface ConcurrencyLimitList {
  readonly limits: readonly ConcurrencyLimit[];
}

export interface ConcurrencyLimit {
  readonly kind: 'nodeTemplate' | 'runnerType';
  readonly name: string;
  readonly max: number | null;
  readonly perProject: number | null;
  readonly perSession: number | null;
  /** Tasks that are held now. */
  readonly held: number;
  /** By the manifest. */
  readonly declared: Concurrency | null;
  /** By an operator, in place of the manifest. */
  readonly chosen: Concurrency | null;
  /** The operator; null: the manifest. */
  readonly changedBy: string | null;
  readonly changedAt: string;
}

export interface Concurrency {
  readonly max: number | null;
  readonly perProject: number | null;
  readonly perSession: number | null;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly projectId: number | null;
  readonly enabled: boolean;
  /** Why the platform disabled it: its receiver answered 410. */
  readonly disabledReason: string | null;
  /** Until then deliveries are signed with the secret before, too. */
  readonly previousSecretUntil: string | null;
  /** Id of the account. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface WebhookWithSecret {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly projectId: number | null;
  readonly enabled: boolean;
  /** Why the platform disabled it: its receiver answered 410. */
  readonly disabledReason: string | null;
  /** Until then deliveries are signed with the secret before, too. */
  readonly previousSecretUntil: string | null;
  /** Id of the account. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Shown only now. `whsec_` and base64. */
  readonly secret: string;
}

export interface WebhookSecret {
  /** Shown only now. `whsec_` and base64. */
  readonly secret: string;
  /** Null where the secret before was stored under another `SECRETS_KEY`: it signs nothing any more. */
  readonly previousSecretUntil: string | null;
}

export interface WebhookDeliveryList {
  readonly deliveries: readonly WebhookDelivery[];
  /** `before` of the next page; null on the last one. */
  readonly next: number | null;
}

export interface WebhookDelivery {
  /** The `webhook-id` of each attempt. */
  readonly id: string;
  /** The event; `webhook.test` for a test. */
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly sessionId: string | null;
  readonly state: 'pending' | 'delivered' | 'failed';
  /** Null when it has ended, or waits for an earlier delivery of its session. */
  readonly nextAttemptAt: string | null;
  readonly attemptCount: number;
  /** The newest 20, oldest first. */
  readonly attempts: readonly {
    readonly at: string;
    readonly durationMs: number;
    /** Null when the receiver did not answer. */
    readonly status: number | null;
    /** Null when the delivery arrived. */
    readonly error: string | null;
    /** The beginning of the answer. */
    readonly response: string | null;
  }[];
  readonly createdAt: string;
  readonly endedAt: string | null;
}

export interface OfflineTokenCreated {
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
     * `user`: a person. `device`: an offline token. `ingest`: a caller of a managed ingest. `platform`: the
     * platform itself.
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
  /** Network of the address: /24 of IPv4, /48 of IPv6. */
  readonly network: string | null;
}

export interface RetentionPreview {
  readonly sessions: {
    readonly count: number;
    /** Outputs deleted with the sessions. */
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
  /** Old outputs of sessions that are kept. */
  readonly outputs: {
    readonly count: number;
    readonly bytes: number;
    readonly sessions: number;
  };
  /** Objects without a row; null without `orphans=true`. */
  readonly orphans: {
    readonly count: number;
    readonly bytes: number;
  } | null;
  /** Uploads without activity for an hour. */
  readonly abandonedUploads: number;
  /** False when there is more: sessions beyond 10000, objects beyond 50000. */
  readonly complete: boolean;
  /** The last ten, newest first. */
  readonly runs: readonly RetentionRun[];
}

export interface RetentionRun {
  readonly id: number;
  readonly requestedAt: string;
  /** The Administrator who started it; null: the schedule. */
  readonly requestedBy: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Sessions deleted so far. */
  readonly sessions: number;
  /** Outputs deleted so far, those of deleted sessions included. */
  readonly outputs: number;
  /** Objects without a row that were deleted. */
  readonly orphans: number;
  readonly bytes: number;
  /** What could not be checked or removed. */
  readonly error: string | null;
}

export interface RunnerTokenCreated {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: string;
  readonly scopes: readonly ('tasks' | 'debug:read')[];
}

export interface RunnerTokenMetadata {
  readonly id: string;
  readonly label: string;
  readonly runnerTypes: readonly string[];
  readonly scopes: readonly ('tasks' | 'debug:read')[];
  /** Id of the user; null: the platform, for a deployed runner. */
  readonly createdBy: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  /** Also true when it ended with its creator. */
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
  /** The instanceId of the runner. */
  readonly instanceId: string;
  /** The kind of its credential. */
  readonly kind: 'token' | 'account';
  readonly tokenId: string | null;
  readonly tokenLabel: string | null;
  readonly tokenHint: string | null;
  /** The account; null for tokens. */
  readonly userId: string | null;
  /** Runner types whose tasks it may claim. */
  readonly runnerTypes: readonly string[];
  /** `deployed`: started by the platform; `external`: started elsewhere. */
  readonly hosting: 'deployed' | 'external';
  /** From the `User-Agent` of its calls. */
  readonly version: string | null;
  readonly firstSeenAt: string;
  /** Accurate to a few seconds. */
  readonly lastSeenAt: string;
  readonly drained: boolean;
  /**
   * `gone`: it signed off, or holds no task and was not seen for 120 seconds. A waiting claim counts as seen.
   * `drained`: it is present and holds no task.
   */
  readonly state: 'waiting' | 'busy' | 'drained' | 'gone';
  /** The task that it holds. */
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
  /** Null: the manifest names no module, so nothing is started. */
  readonly entrypoint: string | null;
  /** Empty while no host runs it: the host is off, full, or not yet updated. */
  readonly processes: readonly {
    /** Number of the process within its runner type, from 1. */
    readonly number: number;
    /**
     * `running`: claims tasks; `waiting`: down, will be restarted; `silent`: its host has not reported it for
     * too long, and another host replaces it.
     */
    readonly state: 'starting' | 'running' | 'waiting' | 'stopping' | 'silent';
    /** Reason for the state; may be empty. */
    readonly message: string;
    /** Number of starts by its host. */
    readonly starts: number;
    readonly changedAt: string;
    /** Its runner token. */
    readonly tokenId: string | null;
  }[];
}

export interface QueueList {
  readonly queues: readonly Queue[];
}

export interface Queue {
  readonly runnerType: string;
  /** `system`: built-in nodes; `sdk`: runners that the platform starts; `external`: runners elsewhere. */
  readonly runtime: 'system' | 'sdk' | 'external';
  readonly nodeTemplate: string;
  /** Tasks that could be claimed now. */
  readonly waiting: number;
  /** How long the next of them has been claimable; null when none waits. */
  readonly oldestWaitSeconds: number | null;
  /** Tasks that runners hold. */
  readonly held: number;
  /** How many of its tasks are held at once at most. */
  readonly limits: readonly {
    readonly kind: 'nodeTemplate' | 'runnerType';
    readonly max: number | null;
    readonly perProject: number | null;
    readonly perSession: number | null;
    /** Held under the limit, of all its node templates. */
    readonly held: number;
  }[];
  readonly runners: QueueRunners;
  readonly lastHour: QueueRate;
}

/**
 * Instances that may claim its tasks, by state. Empty for built-in nodes, which the platform runs itself.
 */
export interface QueueRunners {
  readonly waiting: number;
  readonly busy: number;
  readonly drained: number;
  readonly gone: number;
}

export interface QueueRate {
  readonly completed: number;
  /** Attempts that failed or were lost. */
  readonly failed: number;
  readonly completedPerHour: number;
  /** The time that the counts cover: an hour, or less when very many attempts ended within it. */
  readonly seconds: number;
}

export interface RunnerWhoami {
  readonly kind: 'runner' | 'account';
  /** Null for accounts. */
  readonly tokenId: string | null;
  /** Label of the token; username of an account. */
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
  /** New at every claim. */
  readonly taskId: string;
  /** The same for all attempts of a run. */
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
  /** The task is lost at this time. Every call for it renews the lease. */
  readonly leaseExpiresAt: string;
  /** Interval of heartbeats. */
  readonly heartbeatIntervalSeconds: number;
  readonly incremental: RunnerIncremental;
  /**
   * W3C trace context of the run; null without tracing. Send it as header `traceparent` in every call for the
   * task, so that the calls join one trace.
   */
  readonly traceparent: string | null;
}

export interface RunnerInputs {
  readonly mode: 'since-watermark' | 'latest' | 'all';
  readonly inputs: readonly RunnerInput[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  readonly incremental: RunnerIncremental;
}

export interface RunnerState {
  /** The newest output of the node itself. */
  readonly previousOutput: RunnerInput | null;
  /** The state that the runner stored last. */
  readonly state: Readonly<Record<string, unknown>> | null;
  readonly incremental: RunnerIncremental;
}

export interface RunnerOutput {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly sizeBytes: number;
  /** Null for multi-part outputs. */
  readonly sha256: string | null;
  readonly createdAt: string;
}

export interface RunnerUpload {
  /** Handle of the upload for the following calls. */
  readonly handle: string;
  /** Minimum size of every part but the last. */
  readonly minPartBytes: number;
  readonly maxPartBytes: number;
  readonly maxParts: number;
  /** Expiry of the upload. It ends earlier if the task ends. */
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

export interface RunnerRejection {
  readonly inputId: number;
  /** The watermark of the task: in an incremental node the input itself. */
  readonly watermark: number | null;
  readonly pendingInputs: number;
}

export interface RunnerComplete {
  readonly taskId: string;
  readonly outcome: string;
  /** State code, as in node progress. */
  readonly nodeState: string;
  /** True: a follow-up task was created. */
  readonly followUp: boolean;
  /** Only when it was asked for: the next task, or null when none was ready within the wait. */
  readonly next?: RunnerTask | null | undefined;
}

export interface RunnerFail {
  readonly taskId: string;
  /** State code, as in node progress. */
  readonly nodeState: string;
  readonly willRetry: boolean;
  /** Null when it is not retried. */
  readonly nextAttemptAt: string | null;
  /** Only when it was asked for: the next task, or null when none was ready within the wait. */
  readonly next?: RunnerTask | null | undefined;
}

export interface RunnerRelease {
  readonly taskId: string;
  /** State code, as in node progress. */
  readonly nodeState: string;
  /** Only when it was asked for: the next task, or null when none was ready within the wait. */
  readonly next?: RunnerTask | null | undefined;
}

export interface RunnerLogReply {
  /** The least that the next call may send. */
  readonly nextSequence: number;
  /** The attempt has logged more than 16 MB: what goes beyond is only counted. */
  readonly truncated: boolean;
}

export interface RunnerAnnotationsReply {
  /** How many the call held. */
  readonly staged: number;
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
  /** The queued, held or waiting run. */
  readonly runId: string | null;
  /** Reason of the open or due run. */
  readonly reason: 'input' | 'reprocess' | 'follow-up' | 'retry' | null;
  /** State code, as in node progress. */
  readonly nodeState: string;
  /** True: a runner that claims now gets a task of the node. */
  readonly wouldRun: boolean;
  /** Explains wouldRun. */
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
  /** Services that accept tokens use it to limit devices to their scope. */
  readonly isOfflineToken: boolean;
}

export interface UserList {
  readonly users: readonly User[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
  readonly totalPages: number;
}

export interface RunLogEntry {
  /** Rises along the log, over all attempts. */
  readonly position: number;
  /** By the clock of the runner, or of the platform for its own lines. */
  readonly at: string;
  readonly attempt: number;
  readonly level: 'debug' | 'info' | 'warning' | 'error';
  /** `platform`: claimed, released, lost, cancelled, retried, published, ended. */
  readonly source: 'runner' | 'platform';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | null;
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
  /** Null while the attempt is open. */
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
  'POST /api/v2/admin/session-templates/validate': {
    body: SessionTemplateFile;
    reply: SessionTemplateImportable;
  };
  'GET /api/v2/session/session_templates/{sessionTemplateId}/versions': {
    query?: {
      /** Page number, from 1. */
      readonly page?: number | undefined;
      /** Versions per page. */
      readonly pageSize?: number | undefined;
    };
    reply: SessionTemplateVersions;
  };
  'GET /api/v2/session/session_templates/{sessionTemplateId}/versions/{version}': {
    reply: SessionTemplateVersion;
  };
  'GET /api/v2/session/session_templates/{sessionTemplateId}/versions/{version}/changes': {
    query?: {
      /**
       * The version to compare with. Default: the version before; of `sinceTemplateId`, its newest version.
       */
      readonly since?: number | undefined;
      /** The session template to compare with. Default: this one. */
      readonly sinceTemplateId?: number | undefined;
    };
    reply: SessionTemplateChanges;
  };
  'GET /api/v2/admin/runner-manifests': {
    query?: {
      /** Also return the manifest of this feature. */
      readonly feature?: string | undefined;
    };
    reply: readonly PublishedFeature[];
  };
  'POST /api/v2/admin/runner-manifests': { body: RunnerManifest; reply: RunnerManifestReply };
  'POST /api/v2/runner/manifests/validate': { body: RunnerManifest; reply: RunnerManifestReply };
  'GET /api/v2/session/views': { reply: SessionViewList };
  'POST /api/v2/session/views': { body: NewSessionView; reply: SessionView };
  'PUT /api/v2/session/views/{viewId}': { body: NewSessionView; reply: SessionView };
  'DELETE /api/v2/session/views/{viewId}': { reply: undefined };
  'POST /session': { body: SessionRequest; reply: Session };
  'GET /api/v2/sessions/{id}': { reply: SessionDetails };
  'PATCH /api/v2/sessions/{id}': { body: SessionUpdate; reply: UpdatedSession };
  'DELETE /api/v2/sessions/{id}': { reply: undefined };
  'GET /api/v2/session/{id}/node-instances': { reply: SessionProgress };
  'GET /api/v2/session': {
    query?: {
      /** Only sessions of this project. */
      readonly projectId?: number | undefined;
      /** Only sessions of this session template. */
      readonly sessionTemplateId?: number | undefined;
      /** Part of the session name, simulation name or session id, case-insensitive. */
      readonly search?: string | undefined;
      /** Only sessions created at this time or later. */
      readonly from?: string | undefined;
      /** Only sessions created before this time. */
      readonly to?: string | undefined;
      /** States, separated by commas. Default: all. */
      readonly state?: string | undefined;
      /** Only sessions of this creator: `me`, or an id. */
      readonly owner?: string | undefined;
      /**
       * Only these sessions: at most 100 ids, separated by commas, such as a session query found. Ids of no
       * session are passed over.
       */
      readonly ids?: string | undefined;
      /** Sort key. */
      readonly sortBy?: 'date' | 'name' | undefined;
      /** Sort order. */
      readonly sortOrder?: 'desc' | 'asc' | undefined;
      /** Page number, from 1. */
      readonly page?: number | undefined;
      /** Sessions per page. */
      readonly pageSize?: number | undefined;
    };
    reply: SessionList;
  };
  'GET /api/v2/session/mine': {
    query?: {
      /** Page number, from 1. */
      readonly page?: number | undefined;
      /** Sessions per page. */
      readonly pageSize?: number | undefined;
    };
    reply: SessionList;
  };
  'GET /api/v2/session/counts': {
    query?: {
      /** Only sessions of this project. */
      readonly projectId?: number | undefined;
      /** Only sessions of this session template. */
      readonly sessionTemplateId?: number | undefined;
      /** Part of the session name, simulation name or session id, case-insensitive. */
      readonly search?: string | undefined;
      /** Only sessions created at this time or later. */
      readonly from?: string | undefined;
      /** Only sessions created before this time. */
      readonly to?: string | undefined;
    };
    reply: SessionCounts;
  };
  'GET /api/v2/session/metadata-keys': {
    query?: {
      /** Only sessions of this project. */
      readonly projectId?: number | undefined;
    };
    reply: SessionMetadataKeys;
  };
  'GET /api/v2/session/storage': {
    query?: {
      /** Only sessions of this project. */
      readonly projectId?: number | undefined;
    };
    reply: ProjectStorage;
  };
  'POST /api/v2/sessions/{id}/freeze': { reply: SessionDetails };
  'POST /api/v2/sessions/{id}/unfreeze': { reply: SessionDetails };
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
  'POST /api/v2/session/{id}/adopt-template': { body?: TemplateAdoptionRequest; reply: TemplateAdoption };
  'GET /api/v2/session/{id}/activity': {
    query?: {
      /** The `nextCursor` of the page before. */
      readonly cursor?: string | undefined;
      /** Entries per page. */
      readonly limit?: number | undefined;
    };
    reply: SessionActivity;
  };
  'GET /api/v2/sessions/{id}/events': { reply: Response };
  'POST /api/sessions/query': { body?: SessionQueryRequest; reply: SessionQueryReply };
  'POST /{sessionId}/scenario_instances': { body: ScenarioRequest; reply: ScenarioReply };
  'GET /api/v2/session/{id}/annotations': {
    query?: {
      /** Only what touches this time or later. */
      readonly from?: string | undefined;
      /** Only what begins at this time or before. */
      readonly to?: string | undefined;
      /** Only with this label. */
      readonly label?: string | undefined;
      /** Only with this tag. */
      readonly tag?: string | undefined;
      /** From 1. */
      readonly page?: number | undefined;
      /** Annotations a page. */
      readonly pageSize?: number | undefined;
    };
    reply: AnnotationList;
  };
  'POST /api/v2/session/{id}/annotations': { body: NewAnnotation; reply: Annotation };
  'PATCH /api/v2/session/{id}/annotations/{annotationId}': { body: AnnotationChange; reply: Annotation };
  'DELETE /api/v2/session/{id}/annotations/{annotationId}': { reply: undefined };
  'POST /api/v2/node-instance/{nodeInstanceId}/outputs/data': { reply: NodeOutput | QueuedUpload };
  'GET /api/v2/node-instance/{nodeInstanceId}/outputs': {
    query?: {
      /** The whole identifier of an output. */
      readonly identifier?: string | undefined;
    };
    reply: readonly NodeOutput[];
  };
  'GET /api/v2/node-instance/outputs/{nodeOutputId}/data': {
    query?: {
      /**
       * Accept 307 with the address of the bytes at the store, where the platform has `S3_DOWNLOAD_ENDPOINT`.
       * Follow it without the token, with the same `Range`. Small outputs are sent as without it.
       */
      readonly redirect?: boolean | undefined;
    };
    reply: Response;
  };
  'GET /api/v2/node-instance/{nodeInstanceId}/outputs/latest/data': {
    query?: {
      /**
       * Accept 307 with the address of the bytes at the store, where the platform has `S3_DOWNLOAD_ENDPOINT`.
       * Follow it without the token, with the same `Range`. Small outputs are sent as without it.
       */
      readonly redirect?: boolean | undefined;
    };
    reply: Response;
  };
  'GET /api/v2/node-instance/outputs/{nodeOutputId}/download-address': {
    query?: {
      /** Name of the saved file; default: the identifier of the output. */
      readonly fileName?: string | undefined;
    };
    reply: DownloadAddress;
  };
  'GET /api/v2/downloads/{ticket}': { reply: Response };
  'GET /api/v2/session/{id}/outputs': {
    query?: {
      /** Outputs of this node alone. */
      readonly nodeInstanceId?: number | undefined;
      /** Only the newest output of each node. */
      readonly latest?: boolean | undefined;
      /**
       * A part of the identifier, or of `fileName`, `name` or `kind` in the metadata. Capitals and small
       * letters are the same.
       */
      readonly search?: string | undefined;
      /** The `nextCursor` of the page before. */
      readonly cursor?: string | undefined;
      /** Outputs per page. */
      readonly limit?: number | undefined;
    };
    reply: SessionOutputs;
  };
  'GET /api/v2/node-instance/outputs/{nodeOutputId}/lineage': { reply: OutputLineage };
  'POST /api/v2/node-instance/{nodeInstanceId}/reprocess': { body?: ReprocessRequest; reply: Reprocess };
  'GET /api/v2/node-instance/{nodeInstanceId}/rejected-inputs': {
    query?: {
      /** Number of the page, from 1. */
      readonly page?: number | undefined;
      /** Inputs on a page. */
      readonly pageSize?: number | undefined;
    };
    reply: RejectedInputs;
  };
  'GET /api/v2/node-instance/{nodeInstanceId}/explain': { reply: NodeExplanation };
  'GET /api/v2/node-instance/{nodeInstanceId}/configuration': { reply: NodeConfiguration };
  'PUT /api/v2/node-instance/{nodeInstanceId}/configuration': {
    body: NodeConfigurationChange;
    reply: NodeConfiguration;
  };
  'GET /api/v2/node-instance/{nodeInstanceId}/configuration/revisions': {
    query?: {
      /** Only revisions below this one. */
      readonly before?: number | undefined;
      /** Most revisions of a page. */
      readonly limit?: number | undefined;
    };
    reply: NodeConfigurationRevisions;
  };
  'GET /api/v2/node-instance/{nodeInstanceId}/configuration/schema': { reply: NodeConfigurationSchema };
  'OPTIONS /api/v2/node-instance/{nodeInstanceId}/uploads': { reply: undefined };
  'POST /api/v2/node-instance/{nodeInstanceId}/uploads': { reply: undefined };
  'PATCH /api/v2/node-instance/{nodeInstanceId}/uploads/{uploadId}': { reply: undefined };
  'GET /api/v2/node-instance/{nodeInstanceId}/uploads/{uploadId}': { reply: ResumableUpload };
  'DELETE /api/v2/node-instance/{nodeInstanceId}/uploads/{uploadId}': { reply: undefined };
  'GET /api/v2/admin/node-runs': {
    query?: {
      /** Only runs of this session. */
      readonly sessionId?: string | undefined;
      /** Only runs of this node instance. */
      readonly nodeInstanceId?: number | undefined;
      /** Only runs of nodes of this node template. */
      readonly nodeTemplate?: string | undefined;
      /**
       * States, separated by commas. Default: all runs of the session or node instance; without either, all
       * open or failed runs.
       */
      readonly state?: string | undefined;
      /** Page number, from 1. */
      readonly page?: number | undefined;
      /** Runs per page. */
      readonly pageSize?: number | undefined;
    };
    reply: NodeRunList;
  };
  'GET /api/v2/admin/node-runs/{id}': { reply: NodeRun };
  'POST /api/v2/admin/node-runs/{id}/retry': { reply: NodeRun };
  'POST /api/v2/admin/node-runs/{id}/cancel': { reply: NodeRun };
  'POST /api/v2/admin/sessions/{id}/retry-failed': { reply: FailedRunsRetried };
  'GET /api/v2/node-runs': {
    query?: {
      /** Only runs of this session. */
      readonly sessionId?: string | undefined;
      /** Only runs of this node instance. */
      readonly nodeInstanceId?: number | undefined;
      /** States, with commas between them; without it all. */
      readonly state?: string | undefined;
      /** Only runs of nodes of this node template. */
      readonly template?: string | undefined;
      /** Only runs of this project. */
      readonly projectId?: number | undefined;
      /** Only runs made at this time or later. */
      readonly from?: string | undefined;
      /** Only runs made before this time. */
      readonly to?: string | undefined;
      /** Page number, from 1. */
      readonly page?: number | undefined;
      /** Runs per page. */
      readonly pageSize?: number | undefined;
    };
    reply: NodeRunList;
  };
  'GET /api/v2/node-runs/{runId}': { reply: NodeRunDetails };
  'GET /api/v2/node-runs/{runId}/logs': {
    query?: {
      /** Only lines of this attempt. */
      readonly attempt?: number | undefined;
      /** Only lines after this position: `next` of the page before. */
      readonly after?: number | undefined;
      /** Most lines of a page. */
      readonly limit?: number | undefined;
      /** Only lines of this level and those above it. */
      readonly level?: 'debug' | 'info' | 'warning' | 'error' | undefined;
      /** Only lines whose message or fields contain this text, in any case. */
      readonly search?: string | undefined;
    };
    reply: RunLogPage | Response;
  };
  'GET /api/v2/node-runs/{runId}/replay': {
    query?: {
      /** Default: the last one that was claimed. */
      readonly attempt?: number | undefined;
    };
    reply: NodeRunReplay;
  };
  'GET /api/v2/node-runs/{runId}/replay/inputs/{outputId}/data': {
    query?: {
      /**
       * Accept 307 with the address of the bytes at the store, where the platform has `S3_DOWNLOAD_ENDPOINT`.
       * Follow it without the token, with the same `Range`. Small outputs are sent as without it.
       */
      readonly redirect?: boolean | undefined;
    };
    reply: Response;
  };
  'GET /api/v2/admin/workflow-ui': { reply: WorkflowUi };
  'GET /api/v2/admin/ingests': { reply: readonly Ingest[] };
  'POST /api/v2/admin/ingests': { body: IngestRequest; reply: IngestWithSecret };
  'GET /api/v2/admin/ingests/{id}': { reply: Ingest };
  'PUT /api/v2/admin/ingests/{id}': { body: IngestChange; reply: Ingest };
  'DELETE /api/v2/admin/ingests/{id}': { reply: undefined };
  'POST /api/v2/admin/ingests/{id}/rotate-secret': { reply: IngestWithSecret };
  'POST /ingest/{urlPath}': { reply: Ingested | QueuedUpload };
  'OPTIONS /api/v2/ingest-uploads/{pathOrId}': { reply: undefined };
  'POST /api/v2/ingest-uploads/{pathOrId}': { reply: undefined };
  'PATCH /api/v2/ingest-uploads/{pathOrId}': { reply: undefined };
  'GET /api/v2/ingest-uploads/{pathOrId}': { reply: IngestUpload };
  'DELETE /api/v2/ingest-uploads/{pathOrId}': { reply: undefined };
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
      /** Only dashboards of which this user is a member. */
      readonly userId?: string | undefined;
      /** Only dashboards of sessions of this project. */
      readonly projectId?: number | undefined;
      /** Part of the dashboard's or its session's name; upper and lower case are the same. */
      readonly search?: string | undefined;
      /** Page number, from 1. */
      readonly pageNumber?: number | undefined;
      /** Oldest first or newest first. */
      readonly orderBy?: 'ascending' | 'descending' | undefined;
      /** A date or timestamp. */
      readonly from?: string | undefined;
      /** A date, which includes the whole day, or a timestamp. */
      readonly to?: string | undefined;
    };
    reply: DimensionCatalog;
  };
  'GET /api/v2/dashboard/dimensions/{id}': { reply: Dashboard };
  'GET /api/v2/dashboard/dimensions/{id}/series': {
    query?: {
      /**
       * Keys or names of channels, separated by commas. A name stands for every channel so named; a channel
       * whose name has a comma is named by its key. Default: the first 64 channels.
       */
      readonly channels?: string | undefined;
      /**
       * Rows from this time on, to the millisecond; those at this time count. Default: the start of the
       * recordings.
       */
      readonly from?: string | undefined;
      /**
       * Rows up to this time, to the millisecond; those at this time count. Default: the end of the
       * recordings.
       */
      readonly to?: string | undefined;
      /**
       * Key or name of a channel of numbers that never falls (distance), or `=name` of a derived one: points
       * are drawn over it in place of time, and rows without it are left out. With `split` it may begin again
       * in each trace.
       */
      readonly x?: string | undefined;
      /**
       * Key or name of a step channel (lap): each of its values, at most 200, makes one trace of each channel.
       */
      readonly split?: string | undefined;
      /**
       * All channels of a recording have points of the same rows, so that one can be drawn over another. Where
       * the rows are more than `maxPoints`: of each stretch of equal time the first and the last row, and the
       * lowest and the highest row of each channel. Not with `x` or `split`.
       */
      readonly sameRows?: boolean | undefined;
      /** Maximum number of points of each channel, or of each of its traces. */
      readonly maxPoints?: number | undefined;
    };
    reply: SeriesReply;
  };
  'POST /api/v2/dashboard/dimensions/{id}/series': { body: SeriesQuestion; reply: SeriesReply };
  'GET /api/v2/dashboard/dimensions/{id}/statistics': {
    query?: {
      /**
       * Keys or names of channels, separated by commas. A name stands for every channel so named; a channel
       * whose name has a comma is named by its key. Default: the first 64 channels.
       */
      readonly channels?: string | undefined;
      /**
       * Rows from this time on, to the millisecond; those at this time count. Default: the start of the
       * recordings.
       */
      readonly from?: string | undefined;
      /**
       * Rows up to this time, to the millisecond; those at this time count. Default: the end of the
       * recordings.
       */
      readonly to?: string | undefined;
    };
    reply: StatisticsReply;
  };
  'POST /api/v2/dashboard/dimensions/{id}/statistics': { body: StatisticsQuestion; reply: StatisticsReply };
  'GET /api/v2/dashboard/dimensions/{id}/export': {
    query?: {
      /**
       * Keys or names of channels, separated by commas. A name stands for every channel so named; a channel
       * whose name has a comma is named by its key. Default: the first 64 channels.
       */
      readonly channels?: string | undefined;
      /**
       * Rows from this time on, to the millisecond; those at this time count. Default: the start of the
       * recordings.
       */
      readonly from?: string | undefined;
      /**
       * Rows up to this time, to the millisecond; those at this time count. Default: the end of the
       * recordings.
       */
      readonly to?: string | undefined;
      /** The form of the file. */
      readonly format?: 'csv' | 'parquet' | undefined;
    };
    reply: Response;
  };
  'POST /api/v2/dashboard/dimensions/{id}/export': { body: ExportQuestion; reply: Response };
  'GET /api/v2/dashboard/layouts': {
    query?: {
      /** Only layouts of this scope. */
      readonly scope?: 'mine' | 'template' | 'project' | 'everyone' | undefined;
    };
    reply: LayoutList;
  };
  'POST /api/v2/dashboard/layouts': { body: NewLayout; reply: Layout };
  'GET /api/v2/dashboard/dimensions/{id}/layouts': { reply: FittingLayouts };
  'GET /api/v2/dashboard/layouts/{id}': { reply: Layout };
  'PUT /api/v2/dashboard/layouts/{id}': { body: NewLayout; reply: Layout };
  'DELETE /api/v2/dashboard/layouts/{id}': { reply: undefined };
  'GET /api/v2/dashboard/reports/catalog': { reply: ReportCatalog };
  'GET /api/v2/dashboard/reports/download': {
    query?: {
      /** Only rows of this user. */
      readonly userId?: string | undefined;
      /** Key of the report; default: the default report. */
      readonly option?: string | undefined;
      /** Alias of `option`. */
      readonly report?: string | undefined;
      /** File format. */
      readonly format?: 'xlsx' | 'csv' | undefined;
      /** A date or timestamp. */
      readonly from?: string | undefined;
      /** A date, which includes the whole day, or a timestamp. */
      readonly to?: string | undefined;
    };
    reply: Response;
  };
  'POST /api/v2/dashboard/reports/preview': { body: ReportPreviewRequest; reply: ReportPreview };
  'GET /api/v2/dashboard/report-names': { reply: ReportNames };
  'GET /api/v2/dashboard/reports/{key}': { reply: Report };
  'PUT /api/v2/dashboard/reports/{key}': { body: ReportChange; reply: Report };
  'POST /api/v2/dashboard/reports': { body: NewReport; reply: Report };
  'GET /api/v2/dashboard/report-schedules': {
    query?: {
      /** Only schedules of this project. */
      readonly projectId?: number | undefined;
    };
    reply: ReportScheduleList;
  };
  'POST /api/v2/dashboard/report-schedules': { body: NewReportSchedule; reply: ReportSchedule };
  'GET /api/v2/dashboard/report-schedules/{id}': { reply: ReportSchedule };
  'PATCH /api/v2/dashboard/report-schedules/{id}': { body: ReportScheduleChange; reply: ReportSchedule };
  'DELETE /api/v2/dashboard/report-schedules/{id}': { reply: undefined };
  'POST /api/v2/dashboard/report-schedules/{id}/run': { reply: ReportSchedule };
  'GET /api/v2/dashboard/report-files': {
    query?: {
      /** Only files of this schedule. */
      readonly scheduleId?: string | undefined;
      /** Only files of this project. */
      readonly projectId?: number | undefined;
      /** `next` of the page before. */
      readonly before?: number | undefined;
      /** Files of a page. */
      readonly limit?: number | undefined;
    };
    reply: ReportFileList;
  };
  'GET /api/v2/dashboard/report-files/{id}': { reply: ReportFile };
  'GET /api/v2/dashboard/report-files/{id}/data': { reply: Response };
  'GET /api/v2/admin/statics': { reply: readonly Static[] };
  'POST /api/v2/admin/statics': { body: NewStatic; reply: Static };
  'DELETE /api/v2/admin/statics/{code}': { reply: undefined };
  'POST /api/v2/admin/statics/{code}/instances': { body: NewStaticInstance; reply: Static };
  'DELETE /api/v2/admin/statics/{code}/instances/{sessionId}': { reply: undefined };
  'GET /api/v2/admin/data-sources': { reply: readonly DataSource[] };
  'POST /api/v2/admin/data-sources': { body: DataSourceRequest; reply: DataSource };
  'PUT /api/v2/admin/data-sources/{name}': { body: DataSourceChange; reply: DataSource };
  'DELETE /api/v2/admin/data-sources/{name}': { reply: undefined };
  'GET /api/v2/admin/concurrency': { reply: ConcurrencyLimitList };
  'PUT /api/v2/admin/concurrency/{name}': { body: ConcurrencyChange; reply: ConcurrencyLimit };
  'DELETE /api/v2/admin/concurrency/{name}': {
    query?: {
      /** Needed where a node template and a runner type have the name. */
      readonly kind?: 'nodeTemplate' | 'runnerType' | undefined;
    };
    reply: undefined;
  };
  'GET /api/v2/admin/webhooks': { reply: readonly Webhook[] };
  'POST /api/v2/admin/webhooks': { body: WebhookRequest; reply: WebhookWithSecret };
  'GET /api/v2/admin/webhooks/{id}': { reply: Webhook };
  'PUT /api/v2/admin/webhooks/{id}': { body: WebhookChangeRequest; reply: Webhook };
  'DELETE /api/v2/admin/webhooks/{id}': { reply: undefined };
  'POST /api/v2/admin/webhooks/{id}/rotate-secret': { reply: WebhookSecret };
  'GET /api/v2/admin/webhooks/{id}/deliveries': {
    query?: {
      /** Only deliveries in this state. */
      readonly state?: 'pending' | 'delivered' | 'failed' | undefined;
      /** `next` of the page before. */
      readonly before?: number | undefined;
      /** Deliveries of a page. */
      readonly limit?: number | undefined;
    };
    reply: WebhookDeliveryList;
  };
  'POST /api/v2/admin/webhooks/{id}/test': { reply: WebhookDelivery };
  'POST /api/v2/admin/webhooks/{id}/deliveries/{deliveryId}/redeliver': { reply: WebhookDelivery };
  'POST /api/v2/admin/offline-tokens': { reply: OfflineTokenCreated };
  'GET /api/v2/admin/offline-tokens': { reply: readonly OfflineTokenMetadata[] };
  'DELETE /api/v2/admin/offline-tokens/{secretId}': { reply: undefined };
  'GET /api/v2/openapi.json': { reply: Readonly<Record<string, unknown>> };
  'GET /api/v2/runner/runner-api.v1.yaml': { reply: Response };
  'GET /api/v2/admin/audit': {
    query?: {
      /** Entries from this time on. */
      readonly from?: string | undefined;
      /** Entries before this time. */
      readonly to?: string | undefined;
      /** The id of an operation of this document, or an action of the platform. */
      readonly action?: string | undefined;
      /** The id of a user, a runner token or a managed ingest. */
      readonly actorId?: string | undefined;
      /** The type of the written object. */
      readonly objectType?: 'project' | 'sessionTemplate' | 'feature' | 'session' | 'scenario' | 'nodeInstance' | 'nodeRun' | 'ingest' | 'configuration' | 'report' | 'layout' | 'static' | 'dataSource' | 'webhook' | 'reportSchedule' | 'sessionView' | 'offlineToken' | 'runnerToken' | 'runner' | 'concurrency' | 'retention' | 'user' | undefined;
      /** Its id, or its name if it has no id. */
      readonly objectId?: string | undefined;
      /** Writes to this session. */
      readonly sessionId?: string | undefined;
      /** The `nextCursor` of the page before. */
      readonly cursor?: string | undefined;
      /** Entries per page. */
      readonly limit?: number | undefined;
    };
    reply: AuditPage;
  };
  'GET /api/v2/admin/retention': {
    query?: {
      /** True: also lists the platform's bucket, to find objects without a row. */
      readonly orphans?: boolean | undefined;
    };
    reply: RetentionPreview;
  };
  'POST /api/v2/admin/retention': { reply: RetentionRun };
  'POST /api/v2/admin/runner-tokens': { body: RunnerTokenRequest; reply: RunnerTokenCreated };
  'GET /api/v2/admin/runner-tokens': { reply: readonly RunnerTokenMetadata[] };
  'DELETE /api/v2/admin/runner-tokens/{id}': { reply: undefined };
  'GET /api/v2/admin/runners': {
    query?: {
      /** Page number, from 1. */
      readonly page?: number | undefined;
      /** Instances per page. */
      readonly pageSize?: number | undefined;
    };
    reply: RunnerInstanceList;
  };
  'POST /api/v2/admin/runners/{id}/drain': { reply: RunnerInstance };
  'DELETE /api/v2/admin/runners/{id}/drain': { reply: RunnerInstance };
  'GET /api/v2/admin/queues': { reply: QueueList };
  'GET /api/v2/runner/whoami': { reply: RunnerWhoami };
  'POST /api/v2/runner/tasks/claim': { body: RunnerClaimRequest; reply: RunnerTask | undefined };
  'DELETE /api/v2/runner/instances/{instanceId}': { reply: undefined };
  'GET /api/v2/runner/tasks/{taskId}/inputs': {
    query?: {
      /**
       * `since-watermark`: above the watermark at the claim, capped; `latest`: of each parent the outputs that
       * it published last together; `all`: everything. Only an incremental node gets the inputs beyond the cap
       * in a follow-up task: other nodes list `latest` or `all`.
       */
      readonly mode?: 'since-watermark' | 'latest' | 'all' | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
      /** Inputs per page. */
      readonly limit?: number | undefined;
    };
    reply: RunnerInputs;
  };
  'GET /api/v2/runner/tasks/{taskId}/inputs/{outputId}/data': {
    query?: {
      /**
       * Accept 307 with the address of the bytes at the store, where the platform has `S3_DOWNLOAD_ENDPOINT`.
       * Follow it without the token, with the same `Range`. Small outputs are sent as without it.
       */
      readonly redirect?: boolean | undefined;
    };
    reply: Response;
  };
  'GET /api/v2/runner/tasks/{taskId}/state': { reply: RunnerState };
  'POST /api/v2/runner/tasks/{taskId}/outputs': { reply: RunnerOutput };
  'POST /api/v2/runner/tasks/{taskId}/outputs/uploads': { reply: RunnerOutput | RunnerUpload };
  'PUT /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}/parts/{n}': { reply: RunnerUploadPart };
  'POST /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}/complete': { reply: RunnerOutput };
  'DELETE /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}': { reply: undefined };
  'PUT /api/v2/runner/tasks/{taskId}/heartbeat': { body?: RunnerHeartbeatRequest; reply: RunnerHeartbeat };
  'PUT /api/v2/runner/tasks/{taskId}/watermark': { body: RunnerWatermarkRequest; reply: RunnerWatermark };
  'PUT /api/v2/runner/tasks/{taskId}/rejections/{inputId}': {
    body: RunnerRejectionRequest;
    reply: RunnerRejection;
  };
  'PUT /api/v2/runner/tasks/{taskId}/complete': { body: RunnerCompleteRequest; reply: RunnerComplete };
  'PUT /api/v2/runner/tasks/{taskId}/fail': { body: RunnerFailRequest; reply: RunnerFail };
  'PUT /api/v2/runner/tasks/{taskId}/release': { body?: RunnerReleaseRequest; reply: RunnerRelease };
  'POST /api/v2/runner/tasks/{taskId}/logs': { body: RunnerLogRequest; reply: RunnerLogReply };
  'POST /api/v2/runner/tasks/{taskId}/annotations': {
    body: RunnerAnnotations;
    reply: RunnerAnnotationsReply;
  };
  'GET /api/v2/runner/debug/nodes/{nodeInstanceId}/context': { reply: RunnerDebugContext };
  'GET /api/v2/runner/debug/nodes/{nodeInstanceId}/inputs': {
    query?: {
      /**
       * `since-watermark`: above the watermark at the claim, capped; `latest`: of each parent the outputs that
       * it published last together; `all`: everything. Only an incremental node gets the inputs beyond the cap
       * in a follow-up task: other nodes list `latest` or `all`.
       */
      readonly mode?: 'since-watermark' | 'latest' | 'all' | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
      /** Inputs per page. */
      readonly limit?: number | undefined;
    };
    reply: RunnerInputs;
  };
  'GET /api/v2/runner/debug/nodes/{nodeInstanceId}/inputs/{outputId}/data': {
    query?: {
      /**
       * Accept 307 with the address of the bytes at the store, where the platform has `S3_DOWNLOAD_ENDPOINT`.
       * Follow it without the token, with the same `Range`. Small outputs are sent as without it.
       */
      readonly redirect?: boolean | undefined;
    };
    reply: Response;
  };
  'POST /api/authorization/token': { body: SignInRequest; reply: SignedIn };
  'POST /api/authorization/refresh': { body: RefreshRequest; reply: SignedIn };
  'POST /api/authorization/logout': { reply: undefined };
  'POST /api/authorization/revoke': { body: RevokeRequest; reply: TokensRevoked };
  'POST /api/authorization/validate': { body: ValidationRequest; reply: TokenValidation };
  'POST /api/authorization/offline_token': { reply: OfflineTokenCreated };
  'GET /api/authorization/offline_token': { reply: readonly OfflineTokenMetadata[] };
  'DELETE /api/authorization/offline_token/{secretId}': { reply: undefined };
  'GET /api/authorization/users': {
    query?: {
      /** Part of the username, names or address, case-insensitive. */
      readonly search?: string | undefined;
      /** Page number, from 1. */
      readonly page?: number | undefined;
      /** Users per page. */
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
        /** Time when all of their tokens were last revoked. */
        readonly tokensRevokedAt: string | null;
      }[];
    };
  };
  'POST /api/authorization/users/{userId}/password': { body: PasswordChange; reply: undefined };
  'GET /api/authorization/audit': {
    query?: {
      /** Entries from this time on. */
      readonly from?: string | undefined;
      /** Entries before this time. */
      readonly to?: string | undefined;
      /** The id of an operation of this document, or an action of the platform. */
      readonly action?: string | undefined;
      /** The id of a user, a runner token or a managed ingest. */
      readonly actorId?: string | undefined;
      /** The type of the written object. */
      readonly objectType?: 'project' | 'sessionTemplate' | 'feature' | 'session' | 'scenario' | 'nodeInstance' | 'nodeRun' | 'ingest' | 'configuration' | 'report' | 'layout' | 'static' | 'dataSource' | 'webhook' | 'reportSchedule' | 'sessionView' | 'offlineToken' | 'runnerToken' | 'runner' | 'concurrency' | 'retention' | 'user' | undefined;
      /** Its id, or its name if it has no id. */
      readonly objectId?: string | undefined;
      /** Writes to this session. */
      readonly sessionId?: string | undefined;
      /** The `nextCursor` of the page before. */
      readonly cursor?: string | undefined;
      /** Entries per page. */
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
