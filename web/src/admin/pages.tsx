import type { ComponentChildren } from 'preact';
import { plural } from '../format.ts';
import { navigate, useAddress, withParameters } from '../router.ts';
import { readPage } from '../sessions/address.ts';
import { Paging } from '../ui/paging.tsx';

const rowsOfPage = 100;

/** The pages of a list that was answered whole: thousands of rows at once would hold up every key that is typed. */
export function Pages<Row>(props: {
  of: readonly Row[];
  what: readonly [singular: string, plural: string];
  children: (rows: readonly Row[]) => ComponentChildren;
}) {
  const { of } = props;
  const totalPages = Math.max(1, Math.ceil(of.length / rowsOfPage));
  const page = Math.min(readPage(useAddress().query), totalPages);
  return (
    <>
      {props.children(of.slice((page - 1) * rowsOfPage, page * rowsOfPage))}
      <Paging
        page={page}
        totalPages={totalPages}
        summary={plural(of.length, ...props.what)}
        onPage={(next) => navigate(withParameters({ page: next === 1 ? '' : String(next) }))}
      />
    </>
  );
}
