import { Component, type ComponentChildren } from 'preact';
import { hasChanged } from './in-steps.ts';

interface KeptProps {
  /** All values that the row shows. */
  of: readonly unknown[];
  /** Makes the row. */
  children: () => ComponentChildren;
}

/** A row of a long list. It is rendered again only when one of its values has changed, and not with each change of the page. */
export class Kept extends Component<KeptProps> {
  override shouldComponentUpdate(next: KeptProps): boolean {
    return hasChanged(this.props.of, next.of);
  }

  override render({ children }: KeptProps) {
    return children();
  }
}
