/** Derived channels of a request, for each recording that has their channels. */
import { Problem } from '../../domain/errors.ts';
import { jsonPath, quote } from '../../domain/issue.ts';
import { limits } from '../../domain/limits.ts';
import {
  channelsOf,
  type Derived,
  DerivedFault,
  nodesOf,
  parseDerived,
  positionOverRows,
} from '../../domain/recordings/derived-syntax.ts';
import type { DimensionChannel, DimensionSource } from '../../store/dashboards/dimension-sources.ts';
import type { SeriesRecording } from '../series/reader.ts';
import { channelsNamed, type RequestedChannel } from './requested-channel.ts';

export type DerivedDefinition = {
  readonly name: string;
  readonly unit: string | null;
  readonly expression: string;
};

/** @throws Problem 400 with the place of the fault */
export function findDerived(
  sources: readonly DimensionSource[],
  definitions: readonly DerivedDefinition[],
): RequestedChannel[] {
  const names = new Set<string>();
  let nodes = 0;
  return definitions.flatMap(({ name, unit, expression }, index) => {
    if (names.has(name)) throw fault(index, 'name', `The name ${quote(name)} appears more than once.`);
    names.add(name);
    try {
      const derived = parseDerived(expression);
      nodes += nodesOf(derived);
      if (nodes > limits.derivedNodesInAll)
        throw new DerivedFault(
          0,
          `All expressions have at most ${limits.derivedNodesInAll} numbers, channels and operations`,
        );
      return ofSources(sources, derived).map(
        ([source, resolved]): RequestedChannel => ({
          key: `=${name}`,
          source,
          channel: { id: `=${name}`, name, unit, type: 'number' },
          derived: resolved,
        }),
      );
    } catch (error) {
      if (!(error instanceof DerivedFault)) throw error;
      throw fault(index, 'expression', `${error.message}.`, error.position);
    }
  });
}

function fault(index: number, field: string, message: string, position?: number): Problem {
  const path = jsonPath('derived', index, field);
  const place = position === undefined ? '' : `, position ${position}`;
  return new Problem('invalidRequest', {
    message: `${path}${place}: ${message}`,
    fields: { errors: [{ path, message, ...(position === undefined ? {} : { position }) }] },
  });
}

/** The recordings that have all channels of an expression, which names them by id there. */
function ofSources(sources: readonly DimensionSource[], derived: Derived): [DimensionSource, Derived][] {
  const named = channelsOf(derived);
  for (const one of named) {
    if (!sources.some((source) => channelsNamed(source, one.name).length > 0))
      throw new DerivedFault(one.position, `Channel ${quote(one.name)} is not part of this dashboard`);
  }
  const fitting = sources.filter((source) =>
    named.every((one) => channelsNamed(source, one.name).length > 0),
  );
  if (fitting.length === 0)
    throw new DerivedFault(named[0]?.position ?? 0, 'No recording has all channels of the expression');
  return fitting.map((source) => {
    checkOrder(source, derived);
    return [source, resolve(source, derived)];
  });
}

function checkOrder(source: DimensionSource, derived: Derived): void {
  const position = positionOverRows(derived);
  if (position === null || (source.description as SeriesRecording).time.sorted) return;
  const name = quote(source.name);
  throw new DerivedFault(
    position,
    `The rows of recording ${name} are not in the order of time, which this needs`,
  );
}

function resolve(source: DimensionSource, derived: Derived): Derived {
  if (derived.kind === 'number') return derived;
  if (derived.kind === 'call')
    return { ...derived, operands: derived.operands.map((operand) => resolve(source, operand)) };
  const { name, position } = derived;
  const [channel, ...others] = channelsNamed(source, name) as [DimensionChannel, ...DimensionChannel[]];
  if (others.length > 0) {
    const recording = quote(source.name);
    throw new DerivedFault(
      position,
      `Recording ${recording} has several channels ${quote(name)}; name one by its key`,
    );
  }
  if (channel.type === 'text')
    throw new DerivedFault(
      position,
      `Channel ${quote(name)} holds text; expressions take numbers and truth values`,
    );
  return { ...derived, name: channel.id };
}
