/**
 * Which addresses belong to the inside of a network: this machine, private networks, the network link, carriers' own,
 * and every other address that no internet host has.
 */

/** First address and length of the prefix. */
const innerNetworks: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
];

/** An IPv4 address within an IPv6 one: mapped, or behind the well-known prefix of NAT64. */
const embedded = /^\[(?:::ffff:|64:ff9b::)(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})\]$/;
/** All that is given to hosts of the internet, without tunnels, which lead to IPv4 addresses of any kind. */
const globalUnicast = /^\[(?!2002:|2001:(?:0:|:))[23][0-9a-f]{3}:/;

/**
 * @param address as a resolver gives it, or as the host of a URL, with or without brackets
 * @returns true also for what is no address
 */
export function isInnerAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!plain.includes(':')) return isInnerIpv4(plain);
  if (!URL.canParse(`http://[${plain}]`)) return true;
  const { hostname } = new URL(`http://[${plain}]`);
  const [, high = '0', low] = embedded.exec(hostname) ?? [];
  if (low !== undefined) return isInnerNumber(Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16));
  return !globalUnicast.test(hostname);
}

/** True for the host of a URL that is an address and no name. */
export function isAddress(host: string): boolean {
  return host.startsWith('[') || host.includes(':') || numberOf(host) !== undefined;
}

function isInnerIpv4(text: string): boolean {
  const number = numberOf(text);
  return number === undefined || isInnerNumber(number);
}

function isInnerNumber(number: number): boolean {
  return innerNetworks.some(([first, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(number / size) === Math.floor((numberOf(first) ?? 0) / size);
  });
}

function numberOf(text: string): number | undefined {
  const parts = text.split('.');
  const isWhole = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256);
  return isWhole ? parts.reduce((number, part) => number * 256 + Number(part), 0) : undefined;
}
