/** Addresses of object stores that operators register (decisions 4). */

const maxCharacters = 1000;

/** The address without what does not belong to it, or null: http or https, no user, query or fragment. */
export function readEndpoint(text: string): URL | null {
  if (text.length > maxCharacters || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return /^https?:$/.test(url.protocol) && url.hostname !== '' && isPlain ? url : null;
}

/** One entry of an allowlist: `https://s3.example.org`, `s3.example.org:9000`, `s3.example.org` or `*.example.org`. */
export function isAllowlistEntry(entry: string): boolean {
  return /^https?:\/\//i.test(entry)
    ? readEndpoint(entry)?.pathname === '/'
    : /^(\*\.)?([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(entry);
}

/** True when some entry covers the address. An entry without scheme covers both; one without port covers every port. */
export function isEndpointAllowed(endpoint: URL, allowlist: readonly string[]): boolean {
  return allowlist.some((entry) => {
    if (/^https?:\/\//i.test(entry)) return new URL(entry).origin === endpoint.origin;
    const [, hosts = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry.toLowerCase()) ?? [];
    const portOf = endpoint.port || (endpoint.protocol === 'https:' ? '443' : '80');
    const isHost = hosts.startsWith('*.')
      ? endpoint.hostname.endsWith(hosts.slice(1))
      : endpoint.hostname === hosts;
    return isHost && (port === undefined || port === portOf);
  });
}

/**
 * True for an address of the network link itself, in whatever spelling (`URL` has made one of them). Cloud machines
 * hand out their own credentials there to any caller; no object store is there. @param host with or without brackets
 */
export function isLinkLocal(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[|\]$/g, '');
  return (
    /^169\.254\.\d+\.\d+$/.test(address) ||
    /^fe[89ab][0-9a-f]:/.test(address) ||
    /^(::ffff:|64:ff9b::)(a9fe:|169\.254\.)/.test(address) ||
    address === 'fd00:ec2::254'
  );
}
