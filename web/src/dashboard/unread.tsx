import { textOf } from '../http.ts';
import { Failure } from '../ui/notice.tsx';

interface Read {
  readonly error: Error | null;
  readonly retry: () => void;
}

/** Over the charts: what could not be read, with a way to read it again. One cause is said once. */
export function Unread({ values, statistics }: { values: Read; statistics: Read }) {
  const isOne =
    values.error !== null && statistics.error !== null && textOf(values.error) === textOf(statistics.error);
  const retryBoth = () => {
    values.retry();
    statistics.retry();
  };
  return (
    <>
      {values.error !== null && (
        <Failure
          what={`The values ${isOne ? 'and statistics ' : ''}could not be read.`}
          error={values.error}
          retry={isOne ? retryBoth : values.retry}
        />
      )}
      {statistics.error !== null && !isOne && (
        <Failure what="The statistics could not be read." error={statistics.error} retry={statistics.retry} />
      )}
    </>
  );
}
