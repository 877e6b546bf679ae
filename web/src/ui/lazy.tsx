import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from './notice.tsx';

/** A component of a part of the console that is fetched when it is needed; null while it is loading. */
export function useModule<Module, Props>(
  load: () => Promise<Module>,
  pick: (module: Module) => ComponentType<Props>,
): ComponentType<Props> | 'failed' | null {
  const [state, setState] = useState<{ View: ComponentType<Props> | 'failed' | null }>({ View: null });
  useEffect(() => {
    load()
      .then((module) => setState({ View: pick(module) }))
      .catch(() => setState({ View: 'failed' }));
  }, []);
  return state.View;
}

/** Says that the page must be loaded again, and why; default: a part of it could not be fetched. */
export function ReloadNotice(props: { children?: ComponentChildren }) {
  return (
    <Notice
      tone="error"
      action={
        <button type="button" class="button button-small" onClick={() => window.location.reload()}>
          Load again
        </button>
      }
    >
      {props.children ??
        'This part of the console could not be loaded. The platform may have been updated meanwhile.'}
    </Notice>
  );
}
