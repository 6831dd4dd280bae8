import { networkOfAddress, readAddress, subnetOfAddress } from './client-address';

describe('the address of a client', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:54321', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:54321', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:54321', '2001:db8::1'],
    ['203.0.113.7:x', null],
    ['203.0.113.700', null],
    ['unknown', null],
    ['_hidden', null],
    ['', null],
  ])('that a proxy sends as %p is %p', (ip, address) => {
    expect(readAddress({ ip, socket: { remoteAddress: '127.0.0.1' } })).toBe(address);
  });

  it('is that of the connection where there is no other, and none when that is gone', () => {
    expect(readAddress({ socket: { remoteAddress: '::ffff:127.0.0.1' } })).toBe('127.0.0.1');
    expect(readAddress({ socket: {} })).toBeNull();
  });
});

describe('the network by which limits count, and the subnet', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56', '2001:db8:1:2::/64'],
    ['2001:db8:1:2ff::9', '2001:db8:1:200::/56', '2001:db8:1:2ff::/64'],
    ['2001:0db8:0001:ffff:ffff::', '2001:db8:1:ff00::/56', '2001:db8:1:ffff::/64'],
    ['2001:db8::1', '2001:db8:0:0::/56', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/56', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/56', 'fe80:0:0:0::/64'],
    [null, 'unknown', 'unknown'],
  ])('of %p are %p and %p', (address, network, subnet) => {
    expect([networkOfAddress(address), subnetOfAddress(address)]).toEqual([network, subnet]);
  });
});
