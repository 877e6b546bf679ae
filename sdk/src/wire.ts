/** Bodies of the runner routes as they go over the wire. */

export interface IncrementalWire {
  readonly watermark: number | null;
  readonly pendingInputs: number;
  readonly maxInputsPerTask: number;
}

export interface ClaimWire {
  readonly taskId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly reason: 'input' | 'reprocess' | 'follow-up' | 'retry';
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly parents: readonly { readonly nodeInstanceId: number; readonly name: string }[];
  readonly claimedAt: string;
  readonly leaseExpiresAt: string;
  readonly heartbeatIntervalSeconds: number;
  readonly incremental: IncrementalWire;
  /** W3C trace context of the run, where the platform traces. */
  readonly traceparent?: string | null;
}

export interface InputWire {
  readonly outputId: number;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
}

export type InputMode = 'since-watermark' | 'latest' | 'all';

export interface InputsWire {
  readonly mode: InputMode;
  readonly inputs: readonly InputWire[];
  readonly nextCursor: string | null;
  readonly incremental: IncrementalWire;
}

export interface StateWire {
  readonly previousOutput: InputWire | null;
  readonly state: Readonly<Record<string, unknown>> | null;
  readonly incremental: IncrementalWire;
}

export interface OutputWire {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly createdAt: string;
}

export interface UploadWire {
  readonly handle: string;
  readonly minPartBytes: number;
  readonly maxPartBytes: number;
  readonly maxParts: number;
  readonly expiresAt: string;
}

export interface PartWire {
  readonly part: number;
  readonly sizeBytes: number;
  readonly sha256: string | null;
}

export interface WatermarkWire {
  readonly watermark: number | null;
  readonly pendingInputs: number;
}

export interface HeartbeatWire {
  readonly taskId: string;
  readonly leaseExpiresAt: string;
  readonly cancelRequested: boolean;
}

export interface WhoamiWire {
  readonly kind: 'runner' | 'account';
  readonly label: string | null;
  readonly runnerTypes: readonly string[];
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
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
    readonly incremental: { readonly maxInputsPerTask: number };
  };
}
