/** Addresses of PostgreSQL: `postgresql://user:password@host:port/database?sslmode=...&sslrootcert=...`. */

/** The modes of PostgreSQL's own clients, and the driver's `no-verify`. */
const tlsModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const fileParameters = ['sslrootcert', 'sslcert', 'sslkey'];

/** What is wrong with an address, fit to follow the variable's name; undefined when nothing is. */
export function databaseAddressFault(address: string): string | undefined {
  if (!/^postgres(ql)?:\/\/./.test(address) || !URL.canParse(address))
    return 'must be an address like postgresql://user:password@host:5432/database';
  const { searchParams } = new URL(address);
  const mode = searchParams.get('sslmode');
  if (mode !== null && !tlsModes.includes(mode)) return `sslmode must be one of ${tlsModes.join(', ')}`;
  if (mode === 'verify-ca' && !searchParams.has('sslrootcert'))
    return 'sslmode=verify-ca requires sslrootcert, the file of the certificate authority';
  if (searchParams.has('sslcert') !== searchParams.has('sslkey'))
    return 'sslcert and sslkey, the certificate and key of this client, must be set together';
  return undefined;
}

/** Files that an address names: certificates and keys. */
export function databaseAddressFiles(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { searchParams } = new URL(address);
  return fileParameters.flatMap((name) => searchParams.get(name) ?? []);
}

/**
 * The address as the driver is to have it: `sslmode` means to it what it means to every other client of PostgreSQL
 * (`require` encrypts without checking whom it talks to; `verify-full` checks).
 */
export function driverDatabaseAddress(address: string): string {
  const url = new URL(address);
  const mode = url.searchParams.get('sslmode');
  if (mode === null || mode === 'no-verify' || url.searchParams.has('uselibpqcompat')) return address;
  return `${address}&uselibpqcompat=true`;
}
