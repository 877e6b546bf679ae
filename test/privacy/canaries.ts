/** Planted secrets, and the search for them in every form in which they could be stored. */
import { randomBytes } from 'node:crypto';
import { leakedTokenPattern } from '../../domain/access/token-format.ts';

type CanaryKind = 'address' | 'token' | 'password';

export interface Canary {
  readonly kind: CanaryKind;
  /** For messages: whose it is. */
  readonly name: string;
  /** As it is sent; addresses also in the spellings below. */
  readonly value: string;
  /** Random parts of it, each of which alone is a trace. */
  readonly cores: readonly string[];
}

export interface Trace {
  readonly where: string;
  readonly canary: string;
  readonly as: string;
  /** The text around it. */
  readonly text: string;
}

/** A place that was searched, with all of its text. */
export interface Place {
  readonly where: string;
  readonly text: string;
}

const fresh = () => randomBytes(8).toString('hex');

/** An address whose local part holds a letter that can be composed, and its own domain. */
export function addressCanary(name: string): Canary {
  const [local, domain] = [fresh(), fresh()];
  return {
    kind: 'address',
    name,
    value: `zo\u00eb.${local}@d${domain}.example.org`,
    cores: [local, domain],
  };
}

/** The ways in which people write one and the same address. */
export const spellings: readonly ((address: string) => string)[] = [
  (address) => address,
  (address) => address.toUpperCase(),
  (address) => `  ${address} `,
  (address) => address.normalize('NFD'),
  (address) => ` ${address.normalize('NFD').toUpperCase()}`,
];

export function passwordCanary(name: string): Canary {
  const core = fresh();
  return { kind: 'password', name, value: `Pass\u00f6rd of ${core} /+?&=%`, cores: [core] };
}

/** Collects tokens where they are issued. */
export class CanaryBook {
  readonly #canaries = new Map<string, Canary>();

  get all(): readonly Canary[] {
    return [...this.#canaries.values()];
  }

  add(canary: Canary): Canary {
    this.#canaries.set(canary.value, canary);
    return canary;
  }

  address = (name: string): Canary => this.add(addressCanary(name));
  password = (name: string): Canary => this.add(passwordCanary(name));

  /** Notes every token in a text that the platform sent. */
  addTokensOf(text: string, name: string): void {
    for (const [value] of text.matchAll(new RegExp(leakedTokenPattern, 'g'))) this.token(value, name);
  }

  token(value: string, name: string): Canary {
    // Not the last characters: they are the hint, which is shown.
    return this.add({ kind: 'token', name, value, cores: [value.slice(4, 24), value.slice(24, 44)] });
  }
}

/** The forms in which a core could be stored; letters of either case match in all but base64. */
function formsOf(core: string): { readonly as: string; readonly needle: string; readonly exact: boolean }[] {
  const forms = [
    { as: 'plain', needle: core.toLowerCase(), exact: false },
    { as: 'hex', needle: Buffer.from(core).toString('hex'), exact: false },
    { as: 'hex of upper case', needle: Buffer.from(core.toUpperCase()).toString('hex'), exact: false },
    { as: 'backwards', needle: [...core.toLowerCase()].reverse().join(''), exact: false },
  ];
  for (const text of new Set([core, core.toUpperCase(), core.toLowerCase()])) {
    for (let shift = 0; shift < 3; shift += 1) {
      // Only the characters of base64 that depend on nothing before or after the core.
      const encoded = Buffer.from('\0'.repeat(shift) + text).toString('base64');
      const needle = encoded.slice(
        Math.ceil((shift * 4) / 3),
        Math.floor(((shift + text.length) * 4) / 3) - 1,
      );
      forms.push({ as: 'base64', needle, exact: true });
    }
  }
  return forms;
}

/** Every trace of these canaries in these places. */
export function searchFor(canaries: readonly Canary[], places: readonly Place[]): Trace[] {
  const needles = canaries.flatMap((canary) =>
    canary.cores.flatMap((core) => formsOf(core).map((form) => ({ ...form, canary }))),
  );
  return places.flatMap(({ where, text }) => {
    const folded = text.toLowerCase();
    return needles.flatMap(({ as, needle, exact, canary }) => {
      const at = (exact ? text : folded).indexOf(needle);
      if (at < 0) return [];
      const around = text.slice(Math.max(0, at - 160), at + 80);
      return [{ where, canary: `${canary.kind}: ${canary.name}`, as, text: around }];
    });
  });
}
