import { IconButton } from '../ui/buttons.tsx';

/** Removes a part of a query; `label` also says which. */
export function RemovePart(props: { label: string; title: string; onClick: () => void }) {
  return <IconButton icon="cross" class="query-remove" {...props} />;
}
