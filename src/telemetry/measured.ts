/** Measures the calls of a port, without a change of the port. */
import type { CallMeter } from "./meters.ts";

type Method = (...args: readonly unknown[]) => unknown;

/**
 * The same port, whose promised answers are measured under `<name> <method>`. What answers at once, such as an iterator,
 * is not measured.
 */
export function measured<Port extends object>(port: Port, name: string, meter: CallMeter): Port {
  const copy: Record<string, unknown> = {};
  // The methods of a class are on its prototype.
  for (let level: object | null = port; level !== null && level !== Object.prototype;) {
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (key === "constructor" || key in copy) continue;
      if (typeof value === "function")
        copy[key] = measuredMethod(port, Reflect.get(port, key) as Method, `${name} ${key}`, meter);
      else Object.defineProperty(copy, key, { enumerable: true, get: () => Reflect.get(port, key) as unknown });
    }
    level = Object.getPrototypeOf(level) as object | null;
  }
  return copy as Port;
}

function measuredMethod(port: object, method: Method, key: string, meter: CallMeter): Method {
  return (...args) => {
    const begunAt = performance.now();
    const answer = Reflect.apply(method, port, args);
    if (!(answer instanceof Promise)) return answer;
    return answer.then(
      (value: unknown) => {
        meter.seconds.of(key).observe((performance.now() - begunAt) / 1_000);
        return value;
      },
      (error: unknown) => {
        meter.seconds.of(key).observe((performance.now() - begunAt) / 1_000);
        meter.errors.add(key);
        throw error;
      },
    );
  };
}

/** The answer of a call, which is measured under `operation`. */
export async function timed<T>(meter: CallMeter, operation: string, call: () => Promise<T>): Promise<T> {
  const begunAt = performance.now();
  try {
    return await call();
  } catch (error) {
    meter.errors.add(operation);
    throw error;
  } finally {
    meter.seconds.of(operation).observe((performance.now() - begunAt) / 1_000);
  }
}
