import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../hooks.ts';
import { askBeforeClosing, askBeforeMoving } from '../router.ts';
import { Icon } from './icon.tsx';
import { Notice } from './notice.tsx';

/** The element that had the focus before a window opened; a window that replaces another uses the same one. */
let opener: HTMLElement | null = null;

/**
 * A window over the page. The browser keeps the focus inside; it returns to the previous element at the end. Escape
 * closes it; where something was typed into a form, only the second time.
 */
export function Dialog(props: {
  title: ComponentChildren;
  /** Closes only by its own controls, not by Escape: its content is shown only once. */
  stays?: boolean;
  /** As wide as the window has room, for tables and documents. */
  wide?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const element = useModal();
  const title = useId();
  const unsaved = useUnsaved(element, props.stays === true);
  return (
    <dialog
      ref={element}
      class={props.wide === true ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        if (props.stays !== true && !unsaved.warnOnce('Press Escape')) props.onClose();
      }}
      onInput={unsaved.onInput}
      onSubmit={unsaved.onSubmit}
      // A browser closes it at a second Escape, even if the first was prevented.
      onClose={(event) => {
        if (!event.currentTarget.isConnected) return;
        if (props.stays === true) event.currentTarget.showModal();
        else props.onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={title}>{props.title}</h2>
        {props.stays !== true && (
          <button type="button" class="button button-icon" aria-label="Close" onClick={props.onClose}>
            <Icon name="cross" />
          </button>
        )}
      </div>
      {props.children}
      {unsaved.warning !== null && (
        <div class="dialog-unsaved">
          <Notice tone="error">What you typed is not saved. {unsaved.warning} again to discard it.</Notice>
        </div>
      )}
    </dialog>
  );
}

/** Opens a window over the page as long as it is rendered, and returns the focus at its end. */
function useModal() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    if (before instanceof HTMLElement && before !== document.body && before.closest('dialog') === null)
      opener = before;
    dialog?.showModal();
    const stop = dialog === null ? undefined : focusFirst(dialog);
    return () => {
      stop?.();
      dialog?.close();
      opener?.focus({ preventScroll: true });
      if (document.activeElement === opener) opener = null;
    };
  }, []);
  return element;
}

/** What one works with first in a window: its field, else the way out of a question. */
const firstPlaces = [
  '[autofocus]',
  ':is(input, select, textarea):not(:disabled, [type="file"], [type="hidden"])',
  '.form-end button',
];

/** The browser begins at the button that closes. A field that is still loading gets the focus when it is there. */
function focusFirst(dialog: HTMLDialogElement): () => void {
  let focused = document.activeElement;
  const move = () => {
    // By now the person is somewhere else.
    if (document.activeElement !== focused) return watch.disconnect();
    const places = firstPlaces.map((place) => dialog.querySelector<HTMLElement>(place));
    places.find((place) => place !== null)?.focus({ preventScroll: true });
    focused = document.activeElement;
    if (places[0] !== null || places[1] !== null) watch.disconnect();
  };
  const watch = new MutationObserver(move);
  watch.observe(dialog, { childList: true, subtree: true });
  move();
  return () => watch.disconnect();
}

/**
 * Whether a window holds what was typed and not saved, and whether it warns of that.
 * @param stays nothing but its own controls closes it, Back neither
 */
function useUnsaved(element: RefObject<HTMLDialogElement | null>, stays: boolean) {
  const isTyped = useRef(false);
  const isSent = useRef(false);
  /** What closes it nevertheless, once more. */
  const [warning, setWarning] = useState<'Press Escape' | 'Go back' | null>(null);
  const has = (selector: string) => element.current?.querySelector(`form ${selector}`) != null;
  // After a form was sent, an alert says that nothing was saved.
  const isUnsaved = () =>
    isTyped.current ||
    has('[role="alert"]') ||
    (isSent.current && has('[type="submit"][aria-disabled="true"]'));
  /** True when it warns now and did not before. */
  const warnOnce = (way: 'Press Escape' | 'Go back') => {
    if (!isUnsaved() || warning !== null) return false;
    setWarning(way);
    return true;
  };
  useLayoutEffect(() => askBeforeMoving(isTyped, () => stays || warnOnce('Go back')));
  // A window may be gone before the effects that wait for its first frame.
  useLayoutEffect(
    () => () => {
      askBeforeClosing(isTyped, null);
      askBeforeMoving(isTyped, null);
    },
    [],
  );
  return {
    warning,
    warnOnce,
    onInput: (event: Event) => {
      if (!isKept(event.target)) return;
      isTyped.current = true;
      askBeforeClosing(isTyped, isUnsaved);
      setWarning(null);
    },
    onSubmit: () => {
      isSent.current ||= isTyped.current;
      isTyped.current = false;
      setWarning(null);
    },
  };
}

/** A field of a form, other than one that only searches. */
const isKept = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest('form') !== null &&
  target.getAttribute('type') !== 'search';

/** Asks before an irreversible action; stays open with the reason when it fails. */
export function Confirm(props: {
  title: ComponentChildren;
  children: ComponentChildren;
  /** Names the action: `Revoke`. */
  verb: string;
  /** Names the way out. */
  keep?: string;
  act: () => Promise<unknown>;
  onClose: () => void;
}) {
  const action = useAction();
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          if (await action.run(props.act)) props.onClose();
        }}
      >
        <div>{props.children}</div>
        {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
        <div class="form-end">
          <button type="button" class="button" onClick={props.onClose}>
            {props.keep ?? 'Cancel'}
          </button>
          <button type="submit" class="button button-danger" aria-disabled={action.busy}>
            {props.verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Asks before something is deleted that has a name. */
export function DeleteNamed(props: {
  name: string;
  /** `view` */
  what: string;
  /** What is lost. */
  children: ComponentChildren;
  remove: () => Promise<unknown>;
  onClose: () => void;
}) {
  const title = (
    <>
      Delete <bdi>{props.name}</bdi>?
    </>
  );
  return (
    <Confirm title={title} verb={`Delete ${props.what}`} act={props.remove} onClose={props.onClose}>
      {props.children} This cannot be undone.
    </Confirm>
  );
}
