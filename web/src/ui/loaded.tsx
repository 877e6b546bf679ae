import type { ComponentChildren } from 'preact';
import type { Resource } from '../hooks.ts';
import { Failure, Placeholder } from './notice.tsx';

/**
 * What is loaded: grey bars until it is there, or an error message with a button to try again. After a later failure
 * what was loaded before stays below the message.
 */
export function Loaded<T>(props: {
  of: Pick<Resource<T>, 'data' | 'error' | 'reload'>;
  /** The sentence of the error message, for example `The runs could not be read.` */
  failure: string;
  /** Grey bars. */
  rows: number;
  /** What screen readers say meanwhile. */
  label: string;
  children: (data: T) => ComponentChildren;
}) {
  const { data, error, reload } = props.of;
  return (
    <>
      {error !== null && <Failure what={props.failure} error={error} retry={reload} />}
      {data === null && error === null && <Placeholder rows={props.rows} label={props.label} />}
      {data !== null && props.children(data)}
    </>
  );
}
