import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { retryMs, useEvery } from '../hooks.ts';
import { Notice, Placeholder } from './notice.tsx';

/**
 * A component whose code is fetched when it is first shown, and again and again while the platform does not answer.
 * @param loading what stands there until then; null: nothing
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: { readonly rows: number; readonly label: string } | null,
): ComponentType<Props> {
  return function Lazy(props: Props) {
    // In an object: a state that is a function would be called.
    const [{ View }, setState] = useState<{ View: ComponentType<Props> | 'failed' | null }>({ View: null });
    const fetchCode = () => {
      load()
        .then((loaded) => setState({ View: loaded }))
        .catch(() => setState({ View: 'failed' }));
    };
    useEffect(fetchCode, []);
    useEvery(retryMs, View === 'failed', fetchCode);
    if (View === 'failed') return <ReloadNotice />;
    if (View === null) return loading && <Placeholder {...loading} />;
    return <View {...props} />;
  };
}

/** Says that the page must be loaded again, and why; default: a part of it could not be fetched. */
export function ReloadNotice(props: { children?: ComponentChildren }) {
  return (
    <Notice
      tone="error"
      action={
        <button type="button" class="button button-small" onClick={() => window.location.reload()}>
          Reload
        </button>
      }
    >
      {props.children ??
        'This part of the console could not be loaded. Check the connection. The platform may have been updated.'}
    </Notice>
  );
}
