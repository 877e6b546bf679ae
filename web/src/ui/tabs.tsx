import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** Tabs, of which one is shown. Arrow keys move between them, as usual. */
export function Tabs<Id extends string>(props: {
  label: string;
  tabs: readonly { id: Id; label: string }[];
  chosen: Id;
  onChoose: (id: Id) => void;
  children: ComponentChildren;
}) {
  const base = useId();
  const { tabs, chosen } = props;
  const move = (event: KeyboardEvent, index: number) => {
    const steps: Record<string, number> = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 };
    const target = steps[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = tabs.at(target % tabs.length);
    if (next === undefined) return;
    props.onChoose(next.id);
    document.getElementById(`${base}-${next.id}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={props.label}>
        {tabs.map(({ id, label }, index) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${base}-${id}`}
            aria-selected={id === chosen}
            aria-controls={`${base}-panel`}
            tabIndex={id === chosen ? 0 : -1}
            class="tab"
            onClick={() => props.onChoose(id)}
            onKeyDown={(event) => move(event, index)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${chosen}`} class="tab-panel">
        {props.children}
      </div>
    </>
  );
}
