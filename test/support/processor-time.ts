/** How long code takes when it does not wait, whatever else the machine does meanwhile. */

/** Milliseconds that this process has spent on processors. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
