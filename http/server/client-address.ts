/** The caller's network address, seen through as many proxies as the operator trusts: the key of rate limits. */
import { isIP } from 'node:net';

/**
 * The address that counts. Each trusted proxy appends the peer it saw to X-Forwarded-For, so with `trustedProxies` of
 * them the caller is that many places from the right; entries before it come from callers and are not trusted.
 */
export function clientAddress(
  remoteAddress: string,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  return networkOf(addressAt(remoteAddress, forwardedFor, trustedProxies));
}

/**
 * The network that an audit stores: too coarse to identify a person, fine enough to identify a site or a provider. /24
 * of IPv4, /48 of IPv6; null for an invalid address.
 */
export function clientNetwork(
  remoteAddress: string,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string | null {
  const address = plain(addressAt(remoteAddress, forwardedFor, trustedProxies));
  if (isIP(address) === 4) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  if (isIP(address) !== 6 || address.includes('.')) return null;
  return `${networkOf(address).split(':').slice(0, 3).join(':')}::/48`;
}

function addressAt(remoteAddress: string, forwardedFor: string | undefined, trustedProxies: number): string {
  const chain = [...(forwardedFor ?? '').split(',').map((text) => text.trim()), remoteAddress].filter(
    Boolean,
  );
  const at = Math.max(0, chain.length - 1 - trustedProxies);
  return chain[at] ?? remoteAddress;
}

/** Some proxies append the peer's port too, which each connection has anew. */
const withoutPort = (address: string) =>
  address.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');

const plain = (address: string) => withoutMapping(withoutPort(address).replace(/%.*$/, ''));

/** IPv4 within IPv6 (RFC 4291, section 2.5.5.2), which some proxies write in groups: `::ffff:102:304`. */
function withoutMapping(address: string): string {
  const mapped = /^(?:::|(?:0{1,4}:){5})ffff:(?:([0-9a-f]{1,4}):([0-9a-f]{1,4})|(\d+\.[\d.]+))$/i.exec(
    address,
  );
  if (mapped === null) return address;
  const [, high = '', low = '', dotted] = mapped;
  if (dotted !== undefined) return dotted;
  return [high, low]
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.');
}

/** IPv4 as it is; of IPv6 the /64, which belongs to one customer. */
function networkOf(address: string): string {
  const text = plain(address);
  if (!text.includes(':')) return text;
  const [head = '', tail] = text.split('::', 2);
  const front = head.split(':').filter(Boolean);
  const back = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back];
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}
