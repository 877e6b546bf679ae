import { useEffect, useRef, useState } from 'preact/hooks';
import { useSettled } from '../hooks.ts';
import { navigate, useAddress, withParameters } from '../router.ts';

/**
 * The text of a field that searches a list whose search is in the address. `find` is called once it has stayed the same
 * for a moment; another address sets the text.
 */
export function useSearchText(wanted: string, find: (text: string) => void, settleMs = 250) {
  const [text, setText] = useState(wanted);
  const settled = useSettled(text.trim(), settleMs);
  /** The search that came from here: the field may hold more of it by now. */
  const own = useRef(wanted);
  useEffect(() => {
    if (wanted !== own.current) setText(wanted);
    own.current = wanted;
  }, [wanted]);
  useEffect(() => {
    if (settled === wanted || settled !== text.trim()) return;
    own.current = settled;
    find(settled);
  }, [settled]);
  return [text, setText] as const;
}

/** The search of the list of a page, as it is in its address and as it is typed. */
export function useAddressSearch() {
  const wanted = useAddress().query.get('search')?.trim() ?? '';
  const [text, setText] = useSearchText(wanted, (found) =>
    navigate(withParameters({ search: found, page: '' }), { replace: true }),
  );
  return { wanted, text, setText };
}
