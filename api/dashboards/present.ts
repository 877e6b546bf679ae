import type { z } from 'zod';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { channelKey } from '../../domain/recordings/channel-key.ts';
import { isJsonObject } from '../../domain/text.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import type { DimensionRow } from '../../store/dashboards/dimension-reads.ts';
import type { DimensionSource } from '../../store/dashboards/dimension-sources.ts';
import type { DimensionLayout } from '../../store/dashboards/dimensions.ts';
import type { dashboardSchema } from './schema.ts';

type WireDashboard = z.input<typeof dashboardSchema>;

export function presentDashboard(
  dimension: DimensionRow,
  sources: readonly DimensionSource[],
): WireDashboard {
  const suggested = dimension.suggestsLayout ? suggestedLayout(sources) : null;
  const layout = suggested === null ? dimension.layout : { ...suggested };
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
    layout: isJsonObject(layout) ? layout : null,
    sources: sources.map(presentSource),
    createdAt: formatTimestamp(dimension.createdAt),
  };
}

/** Whether it has no time: its rows are numbered. */
export const hasRowNumbers = ({ description }: DimensionSource) =>
  (description as { time?: { basis?: unknown } } | null)?.time?.basis === 'row-number';

/** Without the location of its bytes. */
function presentSource(source: DimensionSource): WireDashboard['sources'][number] {
  const { outputId, name, realm, rowCount } = source;
  const { kind, from, to } = source.time;
  return {
    outputId,
    name,
    realm,
    time: { kind, from, to, basis: hasRowNumbers(source) ? 'row-number' : 'column' },
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

type Suggestion = { readonly suggestedLayout?: Pick<DimensionLayout, 'panels'> };

/**
 * The panels that recordings suggest; those of one title, group and unit become one, so that machines share it. Null
 * where none suggests any.
 */
function suggestedLayout(sources: readonly DimensionSource[]): DimensionLayout | null {
  const panels = new Map<string, DimensionLayout['panels'][number]>();
  for (const source of sources) {
    const { suggestedLayout } = (source.description ?? {}) as Suggestion;
    for (const { title, group, unit, channels } of suggestedLayout?.panels ?? []) {
      const key = JSON.stringify([title, group, unit]);
      const keys = channels.map((id) => channelKey(source.outputId, id));
      const known = panels.get(key);
      if (known) known.channels.push(...keys);
      else panels.set(key, { title, group, unit, channels: keys });
    }
  }
  return panels.size > 0 ? { version: 1, panels: [...panels.values()] } : null;
}
