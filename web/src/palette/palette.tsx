import { useState } from 'preact/hooks';
import { listRunners } from '../admin-api.ts';
import { listProjects, listSessions } from '../api.ts';
import { type Resource, useResource, useSettled } from '../hooks.ts';
import { runnerTitle } from '../names.ts';
import type { NavigationSection } from '../navigation.ts';
import { setPreferences } from '../preferences.ts';
import { type Abilities, useAbilities } from '../role.ts';
import { navigate } from '../router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { found, type PaletteEntry } from './entries.ts';
import { pageActions } from './page-actions.ts';
import { Shortcuts } from './shortcuts.tsx';
import '../styles/palette.css';

const settleMs = 150;
const foundSessions = 8;

export interface PaletteProps {
  readonly what: 'palette' | 'shortcuts';
  readonly sections: readonly NavigationSection[];
  readonly show: (what: 'palette' | 'shortcuts' | null) => void;
}

/** What Ctrl-K and `?` open. */
export function PaletteDialog(props: PaletteProps) {
  const close = () => props.show(null);
  if (props.what === 'shortcuts') return <Shortcuts onClose={close} />;
  return (
    <Dialog title="Go to" onClose={close}>
      <Palette {...props} close={close} />
    </Dialog>
  );
}

function Palette(props: PaletteProps & { close: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const { entries, isLoading } = useEntries(props, text);
  const at = Math.min(chosen, entries.length - 1);
  const choose = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    props.close();
    entry.act();
  };
  const press = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.key === 'Enter') choose(entries[at]);
    else if (step !== undefined && entries.length > 0)
      setChosen((at + step + entries.length) % entries.length);
    else return;
    event.preventDefault();
  };
  return (
    <div class="palette">
      <div class="search">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Search for a page, a session, a project, a runner or an action"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries.length === 0 ? undefined : `palette-${at}`}
          autocomplete="off"
          // The dialog would focus its first button.
          autofocus
          placeholder="A page, a session, a project, a runner or an action"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={press}
        />
      </div>
      <PaletteList entries={entries} at={at} choose={choose} />
      <p class="faint" role="status">
        {entries.length === 0 && !isLoading ? 'Nothing has this name.' : ''}
      </p>
    </div>
  );
}

/** What the text finds: pages, actions, projects and runners, then sessions. */
function useEntries(props: PaletteProps, text: string) {
  const sessions = useSessions(useSettled(text.trim(), settleMs));
  const things = useThings();
  // What is offered does not change while it is open.
  const [own] = useState(() => ownEntries(props));
  // Sessions of an earlier text may still be there.
  const entries = found([...own, ...(things.data ?? [])], sessions.data ?? [], text);
  return { entries, isLoading: sessions.loading };
}

function PaletteList(props: {
  entries: readonly PaletteEntry[];
  at: number;
  choose: (entry: PaletteEntry) => void;
}) {
  return (
    <div class="palette-list" id="palette-list" role="listbox" aria-label="Found">
      {props.entries.map((entry, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
        // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses the active option
        <div
          key={entry.key}
          id={`palette-${index}`}
          role="option"
          aria-selected={index === props.at}
          class="palette-entry"
          ref={(element) => {
            if (index === props.at) element?.scrollIntoView({ block: 'nearest' });
          }}
          onClick={() => props.choose(entry)}
        >
          <span>{entry.label}</span>
          <span class="faint">{[entry.hint, entry.kind].filter(Boolean).join(' · ')}</span>
        </div>
      ))}
    </div>
  );
}

const goTo = (kind: string, label: string, address: string, hint?: string): PaletteEntry => ({
  key: `${kind} ${address}`,
  kind,
  label,
  ...(hint === undefined ? {} : { hint }),
  act: () => navigate(address),
});

const action = (label: string, act: () => void): PaletteEntry => ({ key: label, kind: 'Action', label, act });

/** What this page can do, then the pages, then what every page can do. */
function ownEntries({ sections, show }: PaletteProps): PaletteEntry[] {
  return [
    ...pageActions().map(({ label, act }) => action(label, act)),
    ...sections.flatMap(({ items }) => items.map(({ title, url }) => goTo('Page', title, url))),
    action('Use light colours', () => setPreferences({ theme: 'light' })),
    action('Use dark colours', () => setPreferences({ theme: 'dark' })),
    action('Use the colours of the system', () => setPreferences({ theme: 'system' })),
    action('Show keyboard shortcuts', () => show('shortcuts')),
  ];
}

/** Sessions that have the text in their names; the newest without a text. */
function useSessions(search: string): Resource<PaletteEntry[]> {
  const may = useAbilities();
  return useResource(
    search,
    async (signal) => {
      if (!may.listSessions) return [];
      const list = await listSessions(
        {
          search,
          page: 1,
          pageSize: foundSessions,
          sortBy: 'date',
          sortOrder: 'desc',
        },
        signal,
      );
      return list.sessions.map(({ id, name, projectTitle }) =>
        goTo('Session', name, `/sessions/${id}`, projectTitle),
      );
    },
    { keepWhileLoading: true },
  );
}

/** All projects, and the runners that were seen last. */
function useThings(): Resource<PaletteEntry[]> {
  const may = useAbilities();
  return useResource('things', async (signal) => {
    const [projects, runners] = await Promise.all([
      listProjects(signal).catch(() => []),
      runnersOf(may, signal).catch(() => []),
    ]);
    const shown = may.listSessions ? projects : [];
    return [...shown.map(({ id, title }) => goTo('Project', title, `/sessions?project=${id}`)), ...runners];
  });
}

async function runnersOf(may: Abilities, signal: AbortSignal): Promise<PaletteEntry[]> {
  if (!may.operate) return [];
  const { runners } = await listRunners(1, signal);
  return runners.map(({ id, instanceId, tokenLabel, state }) => ({
    ...goTo('Runner', runnerTitle(instanceId, tokenLabel), '/runners', state),
    key: `runner ${id}`,
  }));
}
