/** Whom a rate limit counts: the caller's network address, seen through as many proxies as the operator trusts. */

/**
 * The address that counts. Each trusted proxy appends the peer it saw to X-Forwarded-For, so with `trustedProxies`
 * of them the caller stands that many places from the right; what callers put before it is not believed.
 */
export function clientAddress(
  remoteAddress: string,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const chain = [...(forwardedFor ?? '').split(',').map((text) => text.trim()), remoteAddress].filter(
    Boolean,
  );
  const at = Math.max(0, chain.length - 1 - trustedProxies);
  return networkOf(chain[at] ?? remoteAddress);
}

/** IPv4 as it is; of IPv6 the /64 that one customer holds. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::', 2);
  const front = head.split(':').filter(Boolean);
  const back = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back];
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}
