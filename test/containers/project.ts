/** docker-compose.yml as the compose specification's own loader reads it, as far as the checks need it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { checkout } from '../../local/settings.ts';

export interface Service {
  readonly image: string;
  readonly build?: object;
  readonly user?: string;
  readonly entrypoint: readonly string[] | null;
  readonly command: readonly string[] | null;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly secrets?: ReadonlyArray<{ readonly source: string; readonly target: string }>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart: string;
  readonly stop_signal?: string;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ports?: ReadonlyArray<{
    readonly published: string;
    readonly target: number;
    readonly host_ip?: string;
  }>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly volumes?: ReadonlyArray<{
    readonly type: string;
    readonly source?: string;
    readonly target: string;
    readonly read_only?: boolean;
    readonly bind?: { readonly create_host_path?: boolean };
  }>;
  readonly deploy?: {
    readonly resources?: {
      readonly limits?: { readonly cpus?: number; readonly memory?: string; readonly pids?: number };
    };
  };
}

export interface Project {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

/** Where `npm run test:containers` has put what it built: by program name. */
export const programs = JSON.parse(process.env.CONTAINER_PROGRAMS ?? '{}') as Readonly<
  Record<string, string>
>;

/** Throws with the loader's words when the file is not as the specification asks. */
export function loadProject(
  variables: Readonly<Record<string, string>> = {},
  profiles: readonly string[] = [],
): Project {
  const text = execFileSync(programs.compose!, [join(checkout, 'docker-compose.yml'), ...profiles], {
    env: { PATH: process.env.PATH ?? '', ...variables },
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(text.toString()) as Project;
}

/** Names of services, each after those that it depends on. */
export function startOrder({ services }: Project): string[] {
  const order: string[] = [];
  const visit = (name: string) => {
    if (order.includes(name)) return;
    for (const other of Object.keys(services[name]!.depends_on ?? {})) visit(other);
    order.push(name);
  };
  for (const name of Object.keys(services)) visit(name);
  return order;
}
