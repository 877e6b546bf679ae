/** The panels of a dashboard's layout, with the channels that it names. */
import type { Dashboard } from '../../../client/types.ts';

/** What a layout tells channels by. */
interface Channel {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly unit: string;
}

interface SuggestedPanel {
  title: string | null;
  unit: string | null;
  keys: string[];
}

/**
 * The panels of the layout. A layout written by people can contain anything, and cannot know the keys of future
 * recordings: a channel named by id or name means that channel of every recording.
 */
export function suggestedPanels(dashboard: Dashboard, channels: Channel[]): SuggestedPanel[] {
  const panels: unknown = dashboard.layout?.panels;
  if (!Array.isArray(panels)) return [];
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  const byName = channelsByName(channels, new Set(panels.flatMap((panel) => panel?.channels ?? [])));
  return panels.flatMap((panel: Readonly<Record<string, unknown>> | null) => {
    if (typeof panel !== 'object' || panel === null || !Array.isArray(panel.channels)) return [];
    const names: readonly unknown[] = panel.channels;
    const members = [...new Set(names.flatMap((name) => byName.get(name) ?? []))];
    const keys = members.map((channel) => channel.key);
    const known = new Set(keys);
    const suggested = { title: text(panel.title) ?? text(panel.group), unit: text(panel.unit), keys };
    const isWritten = names.some((name) => !known.has(String(name)));
    // The title of a generated panel is that of its group, which says less than its channels do.
    return isWritten ? [suggested] : splitByScale({ ...suggested, title: null }, members);
  });
}

/** The channels that have one of these names as their key, id or name: all channels are looked through once. */
function channelsByName(
  channels: readonly Channel[],
  names: ReadonlySet<unknown>,
): ReadonlyMap<unknown, readonly Channel[]> {
  const found = new Map<unknown, Channel[]>();
  const add = (name: string, channel: Channel) => {
    if (!names.has(name)) return;
    const same = found.get(name);
    if (same === undefined) found.set(name, [channel]);
    else same.push(channel);
  };
  for (const channel of channels) {
    const { key, id, name } = channel;
    add(key, channel);
    if (id !== key) add(id, channel);
    if (name !== id && name !== key) add(name, channel);
  }
  return found;
}

/** A generated panel contains all channels without a unit; on one scale most would be flat lines. */
function splitByScale(panel: SuggestedPanel, members: Channel[]): SuggestedPanel[] {
  const byScale = Map.groupBy(members, scaleKeyOf);
  if (panel.unit !== null || byScale.size < 2) return [panel];
  return [...byScale.values()].map((part) => ({
    title: null,
    unit: null,
    keys: part.map((channel) => channel.key),
  }));
}

/** Channels of the same key share a scale. */
export function scaleKeyOf(channel: Channel): string {
  return channel.unit === '' ? `name ${channel.name}` : `unit ${channel.unit}`;
}
