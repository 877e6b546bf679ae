import { Failure } from '../ui/notice.tsx';

/** Over the charts: what could not be read, with a way to read it again. */
export function Unread(props: {
  what: 'values' | 'statistics';
  read: { readonly error: Error | null; readonly retry: () => void };
}) {
  const { error, retry } = props.read;
  if (error === null) return null;
  return <Failure what={`The ${props.what} could not be read.`} error={error} retry={retry} />;
}
