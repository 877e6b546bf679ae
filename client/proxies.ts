/** The proxies on the way to the platform, as the environment names them for most programs of a machine. */

type Environment = Readonly<Record<string, string | undefined>>;

/** No proxy reaches this machine by these. */
const ownNames = 'localhost,127.0.0.1,::1,[::1]';

/** @returns variables as agents of Node read them; undefined where no proxy of HTTP is named */
export function proxiesOf(environment: Environment): Record<string, string> | undefined {
  const named = (name: string) => environment[name.toLowerCase()] || environment[name];
  const [http, https] = ['HTTP_PROXY', 'HTTPS_PROXY'].map((name) => withScheme(named(name)));
  if (!http && !https) return undefined;
  const others = named('NO_PROXY');
  return {
    ...(http ? { HTTP_PROXY: http } : {}),
    ...(https ? { HTTPS_PROXY: https } : {}),
    NO_PROXY: others ? `${others},${ownNames}` : ownNames,
  };
}

/** Other programs read `host:port`, too. */
function withScheme(address: string | undefined): string | undefined {
  if (!address) return undefined;
  const url = address.includes('://') ? address : `http://${address}`;
  return /^https?:/i.test(url) && URL.canParse(url) ? url : undefined;
}
