/** Inputs within their bounds, for holders of tasks and for debug reads (contract: Runner routes; decisions 9). */
import { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { pathId } from '../../http/schemas.ts';
import { findDataSource } from '../../store/objects/data-sources.ts';
import type { InputBounds } from '../../store/runners/lease.ts';
import { findInput, listInputs } from '../../store/runs/task-inputs.ts';
import { type ServeOptions, sendOutput } from '../output-data.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import type { Services } from '../services.ts';
import { cursorAt, type inputsQuerySchema } from './input-schema.ts';
import { presentInput } from './present.ts';

/** An input in a path; one of another form is no input. */
export const inputIdParameter = z.string().meta({
  type: 'integer',
  minimum: 1,
  description: 'The outputId of the input.',
  example: runnerExampleValues.inputId,
});

/** One page, without the counters. */
export async function inputPage(
  services: Services,
  bounds: InputBounds,
  query: z.output<typeof inputsQuerySchema>,
) {
  const { mode, cursor, limit } = query;
  const found = await listInputs(services.database, bounds, {
    mode,
    afterPosition: cursor ?? 0,
    // One more shows whether there is another page.
    limit: limit + 1,
    cap: services.settings.INCREMENTAL_MAX_INPUTS,
  });
  const page = found.slice(0, limit);
  const nextCursor = found.length > page.length ? cursorAt(page.at(-1)!.position) : null;
  return { mode, inputs: page.map(presentInput), nextCursor };
}

/**
 * The bytes of one input.
 * @param outputId as in the path; one of another form is no input
 * @throws Problem `inputNotFound`, `rangeNotSatisfiable`, `upstreamFailed`, `unavailable`
 */
export async function serveInput(
  services: Services,
  bounds: InputBounds,
  outputId: string,
  options: ServeOptions & { readonly redirect: boolean },
) {
  const id = pathId().safeParse(outputId);
  const input = id.success ? await findInput(services.database, bounds, id.data) : undefined;
  const dataSource = input && (await findDataSource(services.database, input.dataSourceId));
  if (input === undefined || dataSource === undefined) throw new Problem('inputNotFound');
  const reply = await sendOutput(services, dataSource, input, options).catch((error) => {
    throw asInputProblem(error);
  });
  return { reply, sizeBytes: input.sizeBytes };
}

/** A missing object is a fault of the storage, whatever the id; runners get no code for outputs. */
function asInputProblem(error: unknown): unknown {
  return error instanceof Problem && error.key === 'nodeOutputNotFound'
    ? new Problem('upstreamFailed', { cause: error })
    : error;
}
