import { useMemo } from 'preact/hooks';
import type { Dashboard, SessionDimension } from '../api.ts';
import { readSession } from '../api.ts';
import { useResource } from '../hooks.ts';
import type { View } from './address.ts';
import {
  dashboardsByOutput,
  firstMachines,
  type Machine,
  machineNamer,
  machinesOf,
  measuresOf,
  mergeDashboards,
  namesakesOn,
  outputOf,
  withNamesakes,
} from './machines.ts';
import type { Channel, Panel, TimeKind, TimeSpan } from './model.ts';
import { channelsOf, firstChoice, fullSpan, kindOfTime, panelsFor, timeKinds } from './model.ts';
import { hasRowNumbers } from './time.ts';

/** What a dashboard offers, and what of it the address chooses. */
export interface Choice {
  kind: TimeKind;
  kinds: TimeKind[];
  /** Relative times are numbers of rows. */
  hasRowNumbers: boolean;
  kindOfTime: (timeMs: number) => TimeKind;
  /** Null without rows. */
  full: TimeSpan | null;
  channels: Channel[];
  /** In the list of channels: with several machines a measure is chosen once for all of them. */
  offered: Channel[];
  /** Keys of offered channels that are shown. */
  listed: string[];
  chosen: string[];
  /** Keys of all channels that are drawn. */
  keys: string[];
  panels: Panel[];
  machines: Machine[];
  shownMachines: Machine[];
  machineOf: (channel: Channel) => Machine;
  sideBySide: boolean;
  /** Further dashboards of the session. */
  others: readonly SessionDimension[];
  /** Ids of the shown ones, the first first. */
  dashboardIds: string[];
  dimensionOf: (channelKey: string) => string;
}

export function useChoice(first: Dashboard, beside: readonly Dashboard[], view: View): Choice {
  const dashboard = useMemo(() => mergeDashboards(first, beside), [first, beside]);
  const byOutput = useMemo(() => dashboardsByOutput([first, ...beside]), [first, beside]);
  const kinds = timeKinds(dashboard);
  const kind = view.kind !== null && kinds.includes(view.kind) ? view.kind : (kinds[0] ?? 'absolute');
  const all = useMemo(() => channelsOf(dashboard), [dashboard]);
  const channels = useMemo(() => all.filter((channel) => channel.timeKind === kind), [all, kind]);
  const kindOf = useMemo(() => kindOfTime(dashboard), [dashboard]);
  const full = useMemo(() => fullSpan(dashboard, kind), [dashboard, kind]);
  const suggested = useMemo(() => firstChoice(dashboard, channels, kind), [dashboard, channels, kind]);
  const machineOf = useMemo(() => machineNamer(channels, byOutput), [channels, byOutput]);
  const machines = useMemo(() => machinesOf(channels, machineOf), [channels, machineOf]);
  const session = useResource(first.sessionId, (signal) => readSession(first.sessionId, signal));
  const dashboardIds = [first, ...beside].map(({ id }) => String(id));

  // A dashboard may have a million channels: they are looked through when one of these changes, and not at each drawing.
  const available = useMemo(() => new Set(channels.map((channel) => channel.key)), [channels]);
  const shown = new Set(view.machines ?? machines.slice(0, firstMachines).map(({ id }) => id));
  const chosen = (view.channels ?? suggested).filter((key) => available.has(key));
  const areSeveral = machines.length > 1;
  const { keys, offered, listed } = useDrawn({ channels, chosen, shown, machineOf, areSeveral });
  const panels = useMemo(
    () => panelsFor(dashboard, channels, new Set(keys)),
    [dashboard, channels, keys.join('\n')],
  );
  return {
    kind,
    kinds,
    hasRowNumbers: hasRowNumbers(dashboard),
    kindOfTime: kindOf,
    full,
    channels,
    offered,
    listed: offered.map(({ key }) => key).filter((key) => listed.has(key)),
    chosen,
    keys,
    panels,
    machines,
    shownMachines: machines.filter(({ id }) => shown.has(id)),
    machineOf,
    sideBySide: view.sideBySide || beside.length > 0,
    others: session.data?.dimensions.filter(({ id }) => !dashboardIds.includes(String(id))) ?? [],
    dashboardIds,
    dimensionOf: (key) => String(byOutput.get(outputOf(key))?.id ?? first.id),
  };
}

/** What of the chosen channels is drawn, and what the list of channels offers. */
function useDrawn(given: {
  channels: Channel[];
  chosen: string[];
  shown: ReadonlySet<string>;
  machineOf: (channel: Channel) => Machine;
  areSeveral: boolean;
}) {
  const { channels, chosen, shown, machineOf, areSeveral } = given;
  const choice = [...shown, '', ...chosen].join('\n');
  const keys = useMemo(
    () =>
      areSeveral ? namesakesOn(channels, chosen, (channel) => shown.has(machineOf(channel).id)) : chosen,
    [channels, machineOf, choice],
  );
  const offered = useMemo(() => (areSeveral ? measuresOf(channels) : channels), [channels, areSeveral]);
  const listed = useMemo(
    () => new Set(areSeveral ? withNamesakes(channels, chosen) : chosen),
    [channels, choice, areSeveral],
  );
  return { keys, offered, listed };
}
