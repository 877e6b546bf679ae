import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAddress, isInnerAddress } from '../../domain/network/inner-address.ts';

const inner: readonly string[][] = [
  ['this machine', '127.0.0.1', '127.255.0.9', '0.0.0.0', '::1', '::', '::127.0.0.1'],
  ['private networks', '10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  ['the network link', '169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  ['carriers', '100.64.0.1', '100.127.255.255'],
  ['unique-local and site-local', 'fc00::1', 'fd00:ec2::254', 'fdff::1', 'fec0::1'],
  ['IPv4-mapped', '::ffff:10.0.0.1', '::ffff:7f00:1', '::FFFF:169.254.169.254', '0:0:0:0:0:ffff:c0a8:1'],
  [
    'NAT64',
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::1',
    '64:ff9b:1::10.0.0.1',
    '64:ff9b:1::808:808',
  ],
  ['tunnels', '2002:a00:1::1', '2001::1', '2001:0:4136:e378::1'],
  ['several at once, and none at all', '224.0.0.1', '239.1.1.1', '255.255.255.255', '240.0.0.1', 'ff02::1'],
  ['set apart', '192.0.0.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '100::1'],
  ['what is no address', '', 'store.example.org', '1.2.3', '256.1.1.1', '1.2.3.4.5', ':::', '12345::'],
];
test.each(inner)('addresses of %s are inner ones', (_, ...addresses) => {
  expect(addresses.filter((address) => !isInnerAddress(address))).toEqual([]);
});

test('public addresses are not internal, also when embedded in others', () => {
  const outer = [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '126.1.1.1',
    '128.0.0.1',
  ];
  const more = [
    '169.253.1.1',
    '172.15.1.1',
    '172.32.0.1',
    '192.167.1.1',
    '192.169.1.1',
    '198.17.1.1',
    '223.1.1.1',
  ];
  const wide = [
    '2001:4860:4860::8888',
    '2606:4700::1111',
    '2a00:1450::1',
    '3fff::1',
    '2001:db8::1',
    '2003::1',
  ];
  const within = ['::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '[2606:4700::1111]', '64:ff9b::808:808'];
  expect([...outer, ...more, ...wide, ...within].filter(isInnerAddress)).toEqual([]);
});

test('an IPv4 address is judged alike in every form in which IPv6 holds it', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
      const text = octets.join('.');
      const hex = [0, 2]
        .map((at) => ((octets[at] ?? 0) * 256 + (octets[at + 1] ?? 0)).toString(16))
        .join(':');
      const forms = [`::ffff:${text}`, `::ffff:${hex}`, `[::FFFF:${hex}]`, `0:0:0:0:0:ffff:${hex}`];
      const nat64 = [`64:ff9b::${text}`, `64:ff9b::${hex}`, `0064:ff9b:0:0:0:0:${hex}`];
      for (const form of [...forms, ...nat64])
        expect([form, isInnerAddress(form)]).toEqual([form, isInnerAddress(text)]);
    }),
    { numRuns: 2_000 },
  );
});

test('hosts of a URL that are addresses are distinguished from names', () => {
  const hosts = [
    'http://0x7f000001',
    'http://2130706433',
    'http://127.1',
    'http://[::1]',
    'http://017700000001',
  ];
  expect(hosts.map((text) => isAddress(new URL(text).hostname))).toEqual(hosts.map(() => true));
  expect(['localhost', '1.example.org', '1.2.3.4.example.org', '10.0.0.1.'].map(isAddress)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
