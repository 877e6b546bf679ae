/** A layout in the address of its dashboard, so that a link shows the same panels. Pure: tested without a browser. */
import { deflateSync, inflateSync, strFromU8, strToU8 } from 'fflate';
import { noLayout } from '../address.ts';
import type { LayoutForm } from './model.ts';
import { checkedForm } from './read-form.ts';

/** Servers take addresses of 16 KB. */
const maxCharacters = 8000;
/** No layout that the platform stores is longer. */
const maxBytes = 64 * 1024;

export interface LinkedLayout {
  /** The saved layout. */
  id: number | null;
  /** As it was changed; null: as it is saved. */
  form: LayoutForm | null;
}

/** `none`, `12`: a saved one; `~…`: the panels themselves; `12~…`: a saved one as it was changed. Null where it cannot be read. */
export function readLink(text: string): LinkedLayout | null {
  if (text === noLayout) return { id: null, form: null };
  const [, id = '', packed] = /^(\d{0,15})(?:~([\w-]+))?$/.exec(text) ?? [];
  const form = packed === undefined ? null : unpacked(packed);
  if (packed === undefined ? id === '' : form === null) return null;
  return { id: id === '' ? null : Number(id), form };
}

/** Null for a layout that is too large for an address. */
export function writeLink({ id, form }: LinkedLayout): string | null {
  if (form === null) return id === null ? noLayout : String(id);
  const packed = btoa(strFromU8(deflateSync(strToU8(JSON.stringify(form)), { level: 9 }), true))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  return packed.length > maxCharacters ? null : `${id ?? ''}~${packed}`;
}

function unpacked(text: string): LayoutForm | null {
  if (text.length > maxCharacters) return null;
  try {
    const bytes = strToU8(atob(text.replaceAll('-', '+').replaceAll('_', '/')), true);
    // What is longer is cut there, and is then no JSON.
    const json = inflateSync(bytes, { out: new Uint8Array(maxBytes) });
    return checkedForm(JSON.parse(strFromU8(json)));
  } catch {
    return null;
  }
}
