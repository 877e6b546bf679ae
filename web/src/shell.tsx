import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { SignedInUser } from './auth.ts';
import { signOut } from './auth.ts';
import { navigate, useAddress } from './router.ts';
import { Icon } from './ui/icon.tsx';

interface NavigationItem {
  title: string;
  href: string;
  /** True when the page at `path` belongs to this item. */
  covers: (path: string) => boolean;
}

/** The parts of the console. */
const navigation: NavigationItem[] = [
  { title: 'Sessions', href: '/', covers: (path) => path === '/' || path.startsWith('/sessions') },
];

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M5 18h5l3-9 5 15 3.5-9H27" />
    </svg>
  );
}

/** The frame around every page: product, parts of the console, who is signed in. */
export function Shell(props: { user: SignedInUser; children: ComponentChildren }) {
  const { path } = useAddress();
  const main = useRef<HTMLElement>(null);
  const firstPath = useRef(path);
  useEffect(() => {
    // After a move within the console the reading position goes to the new page, as with a page load.
    if (firstPath.current !== path) main.current?.focus({ preventScroll: true });
    firstPath.current = path;
  }, [path]);

  return (
    <div class="shell">
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <header class="topbar">
        <a class="brand" href="/" aria-label="Simulation Data Platform, start page">
          <Mark />
          <span class="brand-name">Simulation Data Platform</span>
        </a>
        <nav class="topbar-nav" aria-label="Main">
          {navigation.map((item) => (
            <a key={item.href} href={item.href} {...(item.covers(path) ? { 'aria-current': 'page' } : {})}>
              {item.title}
            </a>
          ))}
        </nav>
        <div class="topbar-user">
          <span class="user">
            <span class="user-name">{displayName(props.user)}</span>
            <span class="user-role">{props.user.role}</span>
          </span>
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
      <main id="main" class="main" ref={main} tabIndex={-1}>
        {props.children}
      </main>
    </div>
  );
}

function displayName(user: SignedInUser): string {
  const full = `${user.firstName ?? ''} ${user.lastName ?? ''}`.trim();
  return full === '' ? user.username : full;
}
