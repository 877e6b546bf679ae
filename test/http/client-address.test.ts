import { describe, expect, test } from 'vitest';
import { clientAddress, clientNetwork } from '../../http/server/client-address.ts';

describe('the address that a rate limit counts', () => {
  test('is the peer, despite X-Forwarded-For, unless proxies are trusted', () => {
    expect(clientAddress('10.0.0.9', '1.2.3.4', 0)).toBe('10.0.0.9');
    expect(clientAddress('10.0.0.9', undefined, 2)).toBe('10.0.0.9');
    expect(clientAddress('10.0.0.9', '6.6.6.6, 1.2.3.4', 1)).toBe('1.2.3.4');
    expect(clientAddress('10.0.0.9', '6.6.6.6, 1.2.3.4, 10.0.0.8', 2)).toBe('1.2.3.4');
  });

  test('is one for all addresses of an IPv6 customer, and for all spellings of IPv4', () => {
    for (const spelling of [
      '::ffff:1.2.3.4',
      '::FFFF:102:304',
      '0:0:0:0:0:ffff:0102:0304',
      '[::ffff:102:304]:443',
    ])
      expect(clientAddress(spelling, undefined, 0)).toBe('1.2.3.4');
    expect(clientAddress('::ffff:ff00:ff', undefined, 0)).toBe('255.0.0.255');
    const first = clientAddress('2001:db8:0:1::1', undefined, 0);
    expect(first).toBe('2001:db8:0:1');
    expect(clientAddress('2001:0DB8:0000:0001:ffff:1:2:3', undefined, 0)).toBe(first);
    expect(clientAddress('2001:db8:0:2::1', undefined, 0)).not.toBe(first);
    expect(clientAddress('::1', undefined, 0)).toBe('0:0:0:0');
  });

  test('is one for all connections of a caller, where the proxy sends their ports too', () => {
    expect(clientAddress('10.0.0.9', '6.6.6.6, 1.2.3.4:51234', 1)).toBe('1.2.3.4');
    expect(clientAddress('10.0.0.9', '[2001:db8:0:1::7]:443', 1)).toBe('2001:db8:0:1');
    expect(clientAddress('10.0.0.9', '[::ffff:1.2.3.4]:443', 1)).toBe('1.2.3.4');
  });
});

describe('the network that an audit keeps', () => {
  test('is a /24 or a /48, for any X-Forwarded-For', () => {
    expect(clientNetwork('10.0.0.9', '1.2.3.4', 0)).toBe('10.0.0.0/24');
    expect(clientNetwork('10.0.0.9', '6.6.6.6, 1.2.3.4', 1)).toBe('1.2.3.0/24');
    expect(clientNetwork('::ffff:1.2.3.4', undefined, 0)).toBe('1.2.3.0/24');
    expect(clientNetwork('10.0.0.9', '::ffff:102:304', 1)).toBe('1.2.3.0/24');
    expect(clientNetwork('2001:db8:7:1::1', undefined, 0)).toBe('2001:db8:7::/48');
    expect(clientNetwork('::1', undefined, 0)).toBe('0:0:0::/48');
    expect(clientNetwork('10.0.0.9', '1.2.3.4:51234', 1)).toBe('1.2.3.0/24');
    expect(clientNetwork('10.0.0.9', '[2001:db8:7:1::1]:443', 1)).toBe('2001:db8:7::/48');
    expect(clientNetwork('10.0.0.9', "x'; drop", 1)).toBeNull();
    expect(clientNetwork('10.0.0.9', '::1.2.3.4', 1)).toBeNull();
    expect(clientNetwork('', undefined, 0)).toBeNull();
  });
});
