/**
 * What a built-in node is: one value that names, describes and configures its node template, and runs one claimed run with
 * the same reads and writes as an outside runner. `nodes.ts` lists them all.
 */
import { z } from 'zod';
import type { LogLevel } from '../../domain/runs/run-log.ts';
import type { NodeTemplateType } from '../../domain/templates/template-file.ts';
import type { JsonObject } from '../../domain/text.ts';
import type { TaskHolder } from '../../store/runners/holder.ts';
import type { ClaimedTask } from '../../store/runs/claims.ts';
import type { TaskEnd } from '../../store/runs/end-task.ts';
import type { ActivityServices } from '../services.ts';
import type { DataSources } from './data-sources.ts';
import type { RoomSettings } from './disk-room.ts';

/** Resources shared by all runs of a worker. */
export interface BuiltinTools {
  readonly sources: DataSources;
  /** Longest conversion of one file. */
  readonly fileSeconds: number;
  /** A run that has worked for so long ends after its file, and the rest follows in another. */
  readonly turnSeconds: number;
  readonly room: RoomSettings;
  /** How many times its own size a packed file may unpack to. */
  readonly unpackRatio: number;
}

/** One attempt of a built-in node. */
export interface BuiltinRun extends BuiltinTools {
  readonly task: ClaimedTask;
  /** The worker, as the holder of the task. */
  readonly caller: TaskHolder;
  /** The node's own configuration, parsed. */
  readonly configuration: Record<string, unknown>;
  /** An empty folder of this attempt; removed when it ends. */
  readonly workDir: string;
  /** Aborts when the lease is lost, the run is cancelled or the worker stops. */
  readonly signal: AbortSignal;
  /** Shows the node's progress to readers, and adds it to the log. */
  report(phase: string, message: string): void;
  /** Adds a line to the log of the run. */
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** A built-in node as it is declared; `Configuration` is what its schema reads. */
interface NodeDeclaration<Configuration> {
  /** Name of the node template. */
  readonly name: string;
  readonly type: NodeTemplateType;
  readonly description: string;
  readonly incremental?: boolean;
  /** Validates each run's configuration, and is published as the JSON Schema of the node template. */
  readonly configurationSchema: z.ZodType<Configuration>;
  /** Absent for a node of type `Input`, which never gets a task. */
  run?(run: BuiltinRun, configuration: Configuration, services: ActivityServices): Promise<TaskEnd>;
}

export interface BuiltinNode {
  readonly name: string;
  readonly type: NodeTemplateType;
  readonly description: string;
  readonly incremental: boolean;
  readonly configurationSchema: JsonObject;
  /** Throws {@link InvalidInputError} for a configuration that the schema refuses. */
  readonly run: (run: BuiltinRun, services: ActivityServices) => Promise<TaskEnd>;
}

export function builtinNode<Configuration>(node: NodeDeclaration<Configuration>): BuiltinNode {
  const { name, type, description, incremental = false, configurationSchema: schema } = node;
  return {
    name,
    type,
    description,
    incremental,
    configurationSchema: publishedSchema(schema),
    async run(run, services) {
      const parsed = schema.safeParse(run.configuration);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        throw new InvalidInputError(`Configuration, ${issue?.path.join('.')}: ${issue?.message}`);
      }
      if (!node.run) throw new InvalidInputError(`A node of type ${type} does not run.`);
      return node.run(run, parsed.data, services);
    },
  };
}

/** As JSON Schema 2020-12. A value that may be null has a list of types, so that its faults are reported as one. */
function publishedSchema(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      const [value, none] = jsonSchema.anyOf ?? [];
      if (typeof value === 'object' && none?.type === 'null' && jsonSchema.anyOf?.length === 2) {
        delete jsonSchema.anyOf;
        const { type, enum: allowed, ...rest } = value;
        Object.assign(jsonSchema, allowed ? { enum: [...allowed, null] } : { type: [type, 'null'] }, rest);
      }
      delete jsonSchema.additionalProperties;
      delete jsonSchema.propertyNames;
    },
  });
}

/** Part of every node's configuration: where its outputs' bytes go (decisions 8). */
export const dataSourceName = z
  .string()
  .max(255)
  .nullish()
  .describe('Name of the data source that holds the outputs of this node.');

/** The run's own input is at fault: category `validation`, never tried again. */
export class InvalidInputError extends Error {}

/** The run's claim is lost: further writes are refused. */
export class ClaimLostError extends Error {}
