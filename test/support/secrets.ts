/** A secret vault on a test's stores, with a fixed master key. */
import { systemClock } from "../../src/domain/clock.ts";
import { fixedKeys, masterKey } from "../../src/secrets/master-keys.ts";
import { SecretVault } from "../../src/secrets/vault.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export const TEST_KEY = masterKey(new Uint8Array(32).fill(7));

export function testVault({ secrets: store }: Pick<Stores, "secrets">): SecretVault {
  return new SecretVault({ store, keys: fixedKeys([TEST_KEY]), clock: systemClock });
}
