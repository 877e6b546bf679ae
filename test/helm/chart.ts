/** The chart in ops/helm as Helm renders it, and Kubernetes' own words on what it renders. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { checkout } from '../../local/settings.ts';
import { type OpenApi, resourceSchema } from './resource-schema.ts';

const chartFolder = join(checkout, 'ops/helm');

export interface Programs {
  readonly helm: string;
  readonly kubeconform: string;
  /** Kubernetes' OpenAPI document, by its version. */
  readonly openApi: Readonly<Record<string, string>>;
}

/** @param options `--if-built`: null where something of it would have to be built first */
export function preparePrograms(...options: readonly '--if-built'[]): Programs | null {
  const script = join(import.meta.dirname, 'prepare.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...options], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Programs | null;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value: string }>;
  readonly ports?: ReadonlyArray<{ readonly name: string; readonly containerPort: number }>;
  readonly resources: Readonly<Record<'requests' | 'limits', Readonly<Record<'cpu' | 'memory', string>>>>;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: ReadonlyArray<{ readonly name: string; readonly mountPath: string }>;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly exec?: { readonly command: readonly string[] };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit: string };
  readonly projected?: {
    readonly sources: ReadonlyArray<{
      readonly secret: {
        readonly name: string;
        readonly items: ReadonlyArray<{ readonly key: string; readonly path: string }>;
      };
    }>;
  };
}

export interface Pod {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own, which kubeconform checks
  readonly spec: any;
}

/** The least that an installation sets. */
export const minimalValues = {
  secrets: { name: 'sdp' },
  temporal: { address: 'temporal.example.org:7233' },
  s3: { endpoint: 'https://s3.example.org' },
};

/** Everything that may be absent, switched on. */
export const allValues = {
  fullnameOverride: 'platform',
  image: { repository: 'registry.example.org/sdp', tag: '1.2.3', pullSecrets: ['registry'] },
  secrets: {
    name: 'sdp',
    databaseUrl: { name: 'database', key: 'application' },
    ...Object.fromEntries(
      ['reportDatabaseUrl', 'runnerHostKey', 'metricsToken', 'temporalApiKey', 'temporalTlsCa']
        .concat('temporalTlsCert', 'temporalTlsKey')
        .map((entry) => [entry, { key: entry }]),
    ),
  },
  certificates: { configMap: 'authorities', trusted: 'ours.pem' },
  temporal: {
    address: 'temporal.example.org:7233',
    tls: true,
    tlsServerName: 'temporal',
    uiUrl: 'https://temporal.example.org',
  },
  s3: { endpoint: 'https://s3.example.org', prefix: 'sdp/' },
  publicUrl: 'https://sdp.example.org',
  trustedProxies: 1,
  dataSourceEndpointAllowlist: 's3.example.org',
  webhookAllowlist: 'hooks.example.org',
  settings: { DATABASE_POOL_SIZE: '12' },
  serviceAccount: { annotations: { 'example.org/role': 'store' } },
  api: {
    autoscaling: { enabled: true },
    settings: { S3_DOWNLOAD_ENDPOINT: 'https://s3.example.org' },
  },
  worker: { autoscaling: { enabled: true } },
  builtinWorker: { autoscaling: { enabled: true } },
  runnerHost: { enabled: true, modules: { claim: 'modules' } },
  ingress: { enabled: true, className: 'front', host: 'sdp.example.org', tlsSecret: 'certificate' },
  networkPolicy: {
    callers: [{ namespaceSelector: {} }],
    monitoring: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 5432 }] }],
    runnerEgress: [{ to: [{ ipBlock: { cidr: '198.51.100.0/24' } }] }],
  },
};

/** Helm and its checks of one chart. */
export class Chart {
  readonly #programs: Programs;
  /** For values and schemas. */
  readonly #folder: string;
  readonly #documents = new Map<string, OpenApi>();

  constructor(programs: Programs, folder: string) {
    this.#programs = programs;
    this.#folder = folder;
  }

  #openApi(version: string): OpenApi {
    const document =
      this.#documents.get(version) ??
      (JSON.parse(readFileSync(this.#programs.openApi[version]!, 'utf8')) as OpenApi);
    this.#documents.set(version, document);
    return document;
  }

  /** `values` as they are, or the text of a file. `printed` is what it renders, or why it does not. */
  run(command: 'template' | 'lint', values: object | string, ...options: readonly string[]) {
    const file = join(this.#folder, 'values.yaml');
    // JSON is YAML, in which no text is taken for something else.
    writeFileSync(file, typeof values === 'string' ? values : JSON.stringify(values));
    const names = command === 'template' ? ['sdp', chartFolder] : [chartFolder];
    const args = [command, ...names, '--values', file, ...options];
    const { status, stdout, stderr } = spawnSync(this.#programs.helm, args, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: this.#folder },
      maxBuffer: 16 * 1024 * 1024,
    });
    return { isGood: status === 0, printed: status === 0 ? stdout : stderr };
  }

  text(values: object | string = minimalValues): string {
    const { isGood, printed } = this.run('template', values);
    if (!isGood) throw new Error(printed);
    return printed;
  }

  resources(values: object = minimalValues): Resource[] {
    return resourcesOf(this.text(values));
  }

  /** What kubeconform finds wrong in resources, by Kubernetes' own schemas of a version. */
  faults(text: string, version: string): string[] {
    const schemas = join(this.#folder, `schemas-${version}`);
    mkdirSync(schemas, { recursive: true });
    const document = this.#openApi(version);
    // At the beginning of a line these stand nowhere else.
    const given = [...text.matchAll(/^apiVersion: (\S+)\nkind: (\S+)$/gm)];
    for (const [, apiVersion = '', kind = ''] of new Map(given.map((one) => [one[0], one])).values()) {
      const schema = resourceSchema(document, apiVersion, kind);
      if (schema === undefined) return [`${apiVersion} ${kind} is not a resource of Kubernetes ${version}`];
      // As kubeconform asks for it: of a group its first word.
      const name = apiVersion.replace(/\.[^/]*/, '').replace('/', '-');
      writeFileSync(join(schemas, `${kind}-${name}.json`.toLowerCase()), JSON.stringify(schema));
    }
    const location = join(schemas, '{{.ResourceKind}}{{.KindSuffix}}.json');
    const args = ['-strict', '-output', 'json', '-summary', '-schema-location', location, '-'];
    const { stdout, stderr } = spawnSync(this.#programs.kubeconform, args, { encoding: 'utf8', input: text });
    const { resources, summary } = JSON.parse(
      stdout || `{"resources":[{"msg":${JSON.stringify(stderr)}}]}`,
    ) as {
      resources: ReadonlyArray<{ kind: string; name: string; msg: string }> | null;
      summary: { valid: number };
    };
    const found = (resources ?? []).map(({ kind, name, msg }) => `${kind} ${name}: ${msg}`);
    if (found.length === 0 && summary.valid !== given.length) return ['not all were checked'];
    return found;
  }
}

function resourcesOf(text: string): Resource[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Resource | null)
    .filter((resource) => resource !== null);
}

/** What is in a file of the chart. */
export const readOfChart = (path: string): unknown => parse(readFileSync(join(chartFolder, path), 'utf8'));

/** The pods of deployments, jobs and the test, by the name of their part. */
export function podsOf(resources: readonly Resource[]): Readonly<Record<string, Pod>> {
  const pods = resources.flatMap(({ kind, metadata, spec }): Array<[string, Pod]> => {
    const part = metadata.labels['app.kubernetes.io/component']!;
    if (kind === 'Pod') return [[part, spec]];
    return kind === 'Deployment' || kind === 'Job' ? [[part, spec.template.spec]] : [];
  });
  return Object.fromEntries(pods);
}
