/** Processor time: how long code computes, whatever the other processes of the machine do meanwhile. */

/** Milliseconds of processor time that this process has used. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
