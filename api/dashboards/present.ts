import type { z } from 'zod';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { channelKey } from '../../domain/recordings/channel-key.ts';
import { isJsonObject } from '../../domain/text.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import type { DimensionRow } from '../../store/dashboards/dimension-reads.ts';
import type { DimensionSource, ShownSource } from '../../store/dashboards/dimension-sources.ts';
import type { DimensionLayout } from '../../store/dashboards/dimensions.ts';
import type { dashboardSchema } from './schema.ts';

type WireSource = z.input<typeof dashboardSchema>['sources'][number];

/** The fields before its recordings. */
export function presentDashboard(dimension: DimensionRow) {
  return {
    id: dimension.id,
    title: dimension.name,
    sessionId: dimension.sessionId,
    sessionName: dimension.sessionName,
    dashboardName: dimension.dashboardName,
    dashboardVersion: dimension.dashboardVersion,
    url: dashboardUrl(dimension.id),
    scenarioName: dimension.scenarioName,
    from: formatTimestampOrNull(dimension.from),
    to: formatTimestampOrNull(dimension.to),
  };
}

/** The fields behind them. @param suggested by its recordings */
export function presentRest(dimension: DimensionRow, suggested: DimensionLayout | null) {
  const layout = dimension.suggestsLayout && suggested !== null ? { ...suggested } : dimension.layout;
  return {
    layout: isJsonObject(layout) ? layout : null,
    createdAt: formatTimestamp(dimension.createdAt),
  };
}

/** Whether it has no time: its rows are numbered. */
export const hasRowNumbers = ({ description }: DimensionSource) =>
  (description as { time?: { basis?: unknown } } | null)?.time?.basis === 'row-number';

export function presentSource(source: ShownSource): WireSource {
  const { outputId, name, realm, rowCount } = source;
  const { kind, from, to } = source.time;
  return {
    outputId,
    name,
    realm,
    time: { kind, from, to, basis: source.hasRowNumbers ? 'row-number' : 'column' },
    rowCount,
    groups: source.groups.map((group) => ({ id: group.id, name: group.name })),
    channels: source.channels.map((channel) => ({
      key: channelKey(outputId, channel.id),
      id: channel.id,
      name: channel.name,
      unit: channel.unit,
      type: channel.type,
      group: channel.group,
      realm: channel.realm,
    })),
  };
}

/** The panels that recordings suggest; those of one title, group and unit become one, so that machines share it. */
export class SuggestedLayout {
  readonly #panels = new Map<string, DimensionLayout['panels'][number]>();

  add({ outputId, panels }: ShownSource): void {
    for (const { title, group, unit, channels } of panels ?? []) {
      const key = JSON.stringify([title, group, unit]);
      const keys = channels.map((id) => channelKey(outputId, id));
      const known = this.#panels.get(key);
      if (known) known.channels.push(...keys);
      else this.#panels.set(key, { title, group, unit, channels: keys });
    }
  }

  /** Null where none suggests any. */
  get layout(): DimensionLayout | null {
    return this.#panels.size > 0 ? { version: 1, panels: [...this.#panels.values()] } : null;
  }
}
