import type { IncomingMessage } from "node:http";
import { expect } from "chai";
import { readNodeConfig } from "../../src/settings/config.ts";
import { addressReader } from "../../src/http/request/caller-address.ts";

describe("the address of a caller", () => {
  const trusting = (...networks: string[]) =>
    addressReader(readNodeConfig({ MILLRACE_TRUSTED_PROXIES: networks.join(",") }).trustedProxies);
  const from = (remoteAddress: string, forwarded?: string) =>
    ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }) as unknown as IncomingMessage;

  it("is that of the connection, whatever the caller says", () => {
    expect(addressReader()(from("192.0.2.1", "10.0.0.1"))).to.equal("192.0.2.1");
    expect(trusting("10.0.0.0/8")(from("192.0.2.1", "10.0.0.1"))).to.equal("192.0.2.1");
    expect(addressReader()(from("::ffff:192.0.2.1"))).to.equal("192.0.2.1");
  });

  it("is the last one before the trusted proxies", () => {
    const read = trusting("10.0.0.0/8", "fd00::/8");
    expect(read(from("10.0.0.1", "192.0.2.7"))).to.equal("192.0.2.7");
    expect(read(from("::ffff:10.0.0.1", "192.0.2.7, fd00::5,10.0.0.2"))).to.equal("192.0.2.7");
    expect(read(from("10.0.0.1", "203.0.113.9, 192.0.2.7")), "an invented one stands before it").to.equal("192.0.2.7");
    expect(read(from("10.0.0.1", "192.0.2.7:5000"))).to.equal("192.0.2.7");
    expect(read(from("10.0.0.1", "[2001:db8:1:2:3::4]:5000"))).to.equal("2001:db8:1:2::/64");
    expect(read(from("10.0.0.1"))).to.equal("10.0.0.1");
  });

  it("is one for all addresses of an IPv6 network of 64 bits", () => {
    const read = addressReader();
    expect(read(from("2001:db8::1"))).to.equal("2001:db8:0:0::/64");
    expect(read(from("2001:0db8:0:0:ffff:ffff:ffff:ffff"))).to.equal("2001:db8:0:0::/64");
    expect(read(from("2001:db8:0:1::1"))).to.equal("2001:db8:0:1::/64");
    expect(read(from("::1"))).to.equal("0:0:0:0::/64");
    expect(read(from("fe80::1%eth0"))).to.equal("fe80:0:0:0::/64");
  });
});
