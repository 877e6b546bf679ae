import { type ComponentChildren, Fragment, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { AccountButton } from './account.tsx';
import type { User } from './api.ts';
import { readPerson, signOut } from './auth.ts';
import { type Resource, useEvery } from './hooks.ts';
import type { NavigationItem, NavigationSection } from './navigation.ts';
import { covers, iconOf, useNavigation } from './navigation.ts';
import { useGlobalKeys } from './palette/keys.ts';
import { PartsDown } from './parts-down.tsx';
import { usePreferences } from './preferences.ts';
import { navigate, useAddress } from './router.ts';
import { Icon } from './ui/icon.tsx';
import { lazy } from './ui/lazy.tsx';
import { Loaded } from './ui/loaded.tsx';

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M5 18h5l3-9 5 15 3.5-9H27" />
    </svg>
  );
}

/** An Administrator may change the role of a person whose page stays open. */
const personEveryMs = 60_000;

/** The frame around every page: product, parts of the console, signed-in user. */
export function Shell(props: { user: User; children: ComponentChildren }) {
  const { path } = useAddress();
  const main = useRef<HTMLElement>(null);
  const firstPath = useRef(path);
  const { open, setOpen, menuButton } = useMenu();
  const navigation = useNavigation(props.user.role);
  const [over, setOver] = useState<'palette' | 'shortcuts' | null>(null);
  useGlobalKeys(setOver);
  useKeptFocus();
  useEvery(personEveryMs, true, () => void readPerson());
  const { zone } = usePreferences();
  useLayoutEffect(() => {
    // After navigation within the console the focus moves to the new page, as with a page load: before its content asks for it.
    if (firstPath.current !== path) main.current?.focus({ preventScroll: true });
    firstPath.current = path;
    setOpen(false);
  }, [path]);

  return (
    <div class="shell">
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <Topbar
        user={props.user}
        open={open}
        menuButton={menuButton}
        onMenu={() => setOpen(!open)}
        onGoTo={() => setOver('palette')}
      />
      <div class="body">
        <Sidebar navigation={navigation} path={path} open={open} onGo={() => setOpen(false)} />
        {/* Every time on the page is written again in another zone. */}
        <main key={zone} id="main" class="main" ref={main} tabIndex={-1}>
          <PartsDown />
          {props.children}
        </main>
      </div>
      {over !== null && (
        <PaletteLoader key={over} what={over} sections={navigation.data ?? []} show={setOver} />
      )}
    </div>
  );
}

/** When the element with the focus is removed, such as the button of a deleted row, the focus moves to the content, not to the top of the page. */
function useKeptFocus() {
  useEffect(() => {
    let last: EventTarget | null = null;
    const follow = ({ target }: FocusEvent) => {
      last = target;
    };
    const watch = new MutationObserver(() => {
      if (!(last instanceof HTMLElement) || last.isConnected) return;
      last = null;
      // What takes the focus by itself comes first.
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        const inWindow = document.querySelector<HTMLElement>('dialog[open] button');
        (inWindow ?? document.getElementById('main'))?.focus({ preventScroll: true });
      }, 100);
    });
    watch.observe(document.body, { childList: true, subtree: true });
    addEventListener('focusin', follow);
    return () => {
      watch.disconnect();
      removeEventListener('focusin', follow);
    };
  }, []);
}

/** The menu of a small screen: Escape closes it, unless a window is open over it. */
function useMenu() {
  const [open, setOpen] = useState(false);
  const menuButton = useRef<HTMLButtonElement>(null);
  // As soon as the menu is there: a key that is pressed at once must not be missed.
  useLayoutEffect(() => {
    if (!open) return;
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open]') !== null) return;
      setOpen(false);
      menuButton.current?.focus();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [open]);
  return { open, setOpen, menuButton };
}

/** The product, the way to everything, and the signed-in user. */
function Topbar(props: {
  user: User;
  open: boolean;
  menuButton: RefObject<HTMLButtonElement | null>;
  onMenu: () => void;
  onGoTo: () => void;
}) {
  return (
    <header class="topbar">
      <MenuButton button={props.menuButton} open={props.open} onClick={props.onMenu} />
      <a class="brand" href="/" aria-label="Simulation Data Platform, start page">
        <Mark />
        <span class="brand-name">Simulation Data Platform</span>
      </a>
      <button
        type="button"
        class="button button-small go-to"
        aria-keyshortcuts="Control+K"
        onClick={props.onGoTo}
      >
        <Icon name="search" />
        <span class="go-to-words">Go to</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="topbar-user">
        <AccountButton user={props.user} />
        <button
          type="button"
          class="button button-quiet button-small"
          onClick={() => {
            void signOut();
            navigate('/');
          }}
        >
          <Icon name="out" />
          Sign out
        </button>
      </div>
    </header>
  );
}

function MenuButton(props: {
  button: RefObject<HTMLButtonElement | null>;
  open: boolean;
  onClick: () => void;
}) {
  const { open } = props;
  return (
    <button
      type="button"
      class="button button-icon menu-button"
      aria-label={open ? 'Hide the menu' : 'Show the menu'}
      aria-expanded={open}
      aria-controls="sidebar"
      ref={props.button}
      onClick={props.onClick}
    >
      <Icon name={open ? 'cross' : 'menu'} />
    </button>
  );
}

/** The palette's code is fetched when it is opened. */
const PaletteLoader = lazy(
  () => import('./palette/palette.tsx').then((module) => module.PaletteDialog),
  null,
);

/** The parts of the console. On a small screen they replace the page while the menu is open. */
function Sidebar(props: {
  navigation: Resource<readonly NavigationSection[]>;
  path: string;
  open: boolean;
  onGo: () => void;
}) {
  const { navigation } = props;
  return (
    <nav id="sidebar" class={props.open ? 'sidebar sidebar-open' : 'sidebar'} aria-label="Main">
      <div class="sidebar-stay">
        <Loaded of={navigation} failure="The menu could not be read." rows={3} label="Loading the menu">
          {(sections) =>
            listsOf(sections).map(({ code, title, items }) => (
              <Fragment key={code}>
                {title !== null && <h2 class="sidebar-title">{title}</h2>}
                <ul>
                  {items.map((item) => (
                    <SidebarItem key={item.code} item={item} path={props.path} onGo={props.onGo} />
                  ))}
                </ul>
              </Fragment>
            ))
          }
        </Loaded>
      </div>
    </nav>
  );
}

interface SidebarList {
  readonly code: string;
  /** Null: its pages stand for themselves. */
  readonly title: string | null;
  readonly items: NavigationItem[];
}

/** Sections of one page of the same title stand in one list: a screen reader says how many pages it holds. */
function listsOf(sections: readonly NavigationSection[]): SidebarList[] {
  const lists: SidebarList[] = [];
  for (const { code, title, items } of sections) {
    const isPage = items.length === 1 && items[0]!.title === title;
    const last = lists.at(-1);
    if (isPage && last?.title === null) last.items.push(...items);
    else lists.push({ code, title: isPage ? null : title, items: [...items] });
  }
  return lists;
}

function SidebarItem(props: { item: NavigationItem; path: string; onGo: () => void }) {
  const { item, path } = props;
  return (
    <li>
      <a href={item.url} onClick={props.onGo} {...(covers(item, path) ? { 'aria-current': 'page' } : {})}>
        <Icon name={iconOf(item.icon)} />
        {item.title}
      </a>
    </li>
  );
}
