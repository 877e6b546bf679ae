import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import '../styles/menu.css';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon: IconName;
  readonly hint?: string;
  /** Loses something: set apart, and in the colour of danger. */
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** A link in a new tab, in place of an action. */
  readonly href?: string;
  readonly act?: () => void;
}

/** A button with more actions. Arrow keys move, Escape closes and returns the focus. */
export function Menu(props: {
  label: string;
  items: readonly MenuItem[];
  /** The label stands on the button. */
  text?: boolean;
  icon?: IconName;
}) {
  const { frame, open, toggle, close, onKeyDown } = useOpenMenu();
  if (props.items.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the items within
    <div class="menu" ref={frame} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="button button-small"
        aria-haspopup="menu"
        aria-expanded={open}
        {...(props.text === true ? {} : { 'aria-label': props.label, title: props.label })}
        onClick={toggle}
      >
        <Icon name={props.icon ?? 'more'} />
        {props.text === true && props.label}
      </button>
      {open && (
        <div class="menu-list" role="menu" aria-label={props.label}>
          {props.items.map((item) => (
            <Entry key={item.label} item={item} close={() => close(true)} />
          ))}
        </div>
      )}
    </div>
  );
}

/** Whether a menu is open; a press outside of its frame closes it, as Escape and Tab do. */
function useOpenMenu() {
  const [open, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const close = (isBack: boolean) => {
    setOpen(false);
    if (isBack) frame.current?.querySelector<HTMLElement>('button')?.focus();
  };
  useLayoutEffect(() => {
    if (!open) return;
    entries(frame.current)[0]?.focus();
    const outside = (event: Event) => {
      if (event.target instanceof Node && frame.current?.contains(event.target) === false) close(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === 'Escape' || event.key === 'Tab') close(event.key === 'Escape');
    else if (!move(event.key, frame.current)) return;
    if (event.key !== 'Tab') event.preventDefault();
    event.stopPropagation();
  };
  return { frame, open, toggle: () => setOpen(!open), close, onKeyDown };
}

function Entry({ item, close }: { item: MenuItem; close: () => void }) {
  const common = {
    role: 'menuitem',
    class: item.danger === true ? 'menu-item menu-danger' : 'menu-item',
    tabIndex: -1,
    title: item.hint,
  } as const;
  const body = (
    <>
      <Icon name={item.icon} />
      {item.label}
    </>
  );
  if (item.href !== undefined) {
    return (
      <a {...common} href={item.href} target="_blank" rel="noreferrer" onClick={close}>
        {body}
      </a>
    );
  }
  return (
    <button
      {...common}
      type="button"
      aria-disabled={item.disabled}
      onClick={() => {
        if (item.disabled === true) return;
        close();
        item.act?.();
      }}
    >
      {body}
    </button>
  );
}

const entries = (frame: HTMLElement | null) => [
  ...(frame?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? []),
];

/** False for keys that do not move. */
function move(key: string, frame: HTMLElement | null): boolean {
  const all = entries(frame);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const targets: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  const target = targets[key];
  if (target === undefined) return false;
  all.at(target % all.length)?.focus();
  return true;
}
