/**
 * Several machines side by side: finds the machines of a dashboard and distributes the panels among them. Pure: tested
 * without a browser.
 */
import type { ChannelSeries, Dashboard } from '../../../client/types.ts';
import type { Channel, Panel } from './model.ts';

export interface Machine {
  /** The dashboard and the realm, or the recording if all have the same realm. */
  id: string;
  title: string;
}

/** A panel with one cell for each machine; null when a machine has no channel of it. */
export interface MachineRow {
  id: string;
  title: string;
  unit: string;
  cells: (Panel | null)[];
}

/** How many machines are shown side by side at first. */
export const firstMachines = 4;

/** How many are offered without a search: a session may have thousands of recordings, and the charts are below. */
export const offeredAtOnce = 24;

/** The machines to choose among: those that are shown, and the first others that the search finds. */
export function offeredMachines(
  machines: readonly Machine[],
  chosen: ReadonlySet<string>,
  search: string,
): readonly Machine[] {
  if (machines.length <= offeredAtOnce) return machines;
  const wanted = search.trim().toLowerCase();
  let room = offeredAtOnce;
  return machines.filter(({ id, title }) => {
    if (chosen.has(id)) return true;
    if (room === 0 || !title.toLowerCase().includes(wanted)) return false;
    room -= 1;
    return true;
  });
}

/** A group lists so many channels, and offers the others by a search: thousands of rows make every click slow. */
const listedAtOnce = 200;

/** The channels of a group to list: the chosen ones, and the first others. */
export function listedChannels(
  channels: readonly Channel[],
  chosen: ReadonlySet<string>,
): readonly Channel[] {
  if (channels.length <= listedAtOnce) return channels;
  let room = listedAtOnce;
  return channels.filter(({ key }) => {
    if (chosen.has(key)) return true;
    room -= 1;
    return room >= 0;
  });
}

/** Merges dashboards: all sources in order, with the layout and names of the first. */
export function mergeDashboards(first: Dashboard, others: readonly Dashboard[]): Dashboard {
  return { ...first, sources: [first, ...others].flatMap(({ sources }) => sources) };
}

/** The dashboard of each source, by the output id that begins the keys of its channels. */
export function dashboardsByOutput(dashboards: readonly Dashboard[]): Map<string, Dashboard> {
  return new Map(
    dashboards.flatMap((dashboard) =>
      dashboard.sources.map(({ outputId }): [string, Dashboard] => [String(outputId), dashboard]),
    ),
  );
}

export function outputOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

/** Names the machine of each channel: by dashboard and realm if there are several, else by recording. */
export function machineNamer(
  channels: readonly Channel[],
  byOutput: ReadonlyMap<string, Dashboard>,
): (channel: Channel) => Machine {
  const hasRealms = new Set(channels.map(({ realm }) => realm)).size > 1;
  const hasDashboards = new Set([...byOutput.values()].map(({ id }) => id)).size > 1;
  return (channel) => {
    const dashboard = byOutput.get(outputOf(channel.key));
    const own = hasRealms ? channel.realm : channel.sourceName;
    const inner = hasDashboards && !hasRealms && countSources(dashboard) < 2 ? '' : own;
    const parts = [hasDashboards ? (dashboard?.title ?? '') : '', inner].filter((part) => part !== '');
    return {
      id: hasDashboards ? `${dashboard?.id ?? ''}/${inner}` : own,
      title: parts.join(' · ') || 'machine',
    };
  };
}

const countSources = (dashboard: Dashboard | undefined) => dashboard?.sources.length ?? 0;

/** The machines in the order of their recordings. */
export function machinesOf(
  channels: readonly Channel[],
  machineOf: (channel: Channel) => Machine,
): Machine[] {
  return [...new Map(channels.map((channel) => [machineOf(channel).id, machineOf(channel)])).values()];
}

/** The chosen channels with those of the same name on the other machines: each measure is compared across machines. */
export function withNamesakes(channels: readonly Channel[], keys: readonly string[]): string[] {
  const chosen = new Set(keys);
  const measures = new Set(channels.filter(({ key }) => chosen.has(key)).map(measureOf));
  return channels.filter((channel) => measures.has(measureOf(channel))).map(({ key }) => key);
}

/**
 * One channel for each measure, for a list in which a measure is chosen for all machines at once. A measure of several
 * realms has none.
 */
export function measuresOf(channels: readonly Channel[]): Channel[] {
  const firsts = new Map<string, Channel>();
  for (const channel of channels) {
    const measure = measureOf(channel);
    const first = firsts.get(measure);
    if (first === undefined) firsts.set(measure, channel);
    else if (first.realm !== channel.realm && first.realm !== '')
      firsts.set(measure, { ...first, realm: '' });
  }
  return [...firsts.values()];
}

/** As `withNamesakes`, for only some channels. */
export function namesakesOn(
  channels: readonly Channel[],
  keys: readonly string[],
  isShown: (channel: Channel) => boolean,
): string[] {
  const wanted = new Set(withNamesakes(channels, keys));
  return channels.filter((channel) => wanted.has(channel.key) && isShown(channel)).map(({ key }) => key);
}

/** What channels of several recordings have in common. */
export function measureOf({ groupName, name, unit }: Channel): string {
  return JSON.stringify([groupName, name, unit]);
}

/** The panels as rows with a cell for each machine. Equal panels of several machines share a row. */
export function machineRows(
  panels: readonly Panel[],
  machines: readonly Machine[],
  machineOf: (channel: Channel) => Machine,
): MachineRow[] {
  const rows = new Map<string, { title: string; unit: string; channels: Channel[] }>();
  for (const panel of panels) {
    const names = [...new Set(panel.channels.map(({ name }) => name))].sort();
    const id = JSON.stringify([panel.unit, names]);
    const row = rows.get(id) ?? { title: panel.title, unit: panel.unit, channels: [] };
    row.channels.push(...panel.channels);
    rows.set(id, row);
  }
  return [...rows].map(([id, { title: given, unit, channels }]) => {
    const names = [...new Set(channels.map(({ name }) => name))];
    const title = names.length === 1 ? names[0]! : given;
    return {
      id,
      title,
      unit,
      cells: machines.map((machine) => {
        const own = channels
          .filter((channel) => machineOf(channel).id === machine.id)
          .sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
        return own.length === 0 ? null : { id: `${id} ${machine.id}`, title, unit, channels: own };
      }),
    };
  });
}

/** The lowest and highest loaded value of a row, so that its cells share one scale; null without any. */
export function sharedScale(
  row: MachineRow,
  series: ReadonlyMap<string, ChannelSeries>,
): { min: number; max: number } | null {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const panel of row.cells) {
    for (const { key, kind } of panel?.channels ?? []) {
      if (kind !== 'number') return null;
      for (const value of series.get(key)?.values ?? []) {
        if (typeof value !== 'number' || !Number.isFinite(value)) continue;
        if (value < min) min = value;
        if (value > max) max = value;
      }
    }
  }
  return min <= max ? { min, max } : null;
}
