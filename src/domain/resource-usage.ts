/** Processor time and memory that a step has used, as its agent measured them. */
export interface ResourceUsage {
  /** Processor time of all its processes together, user and system, milliseconds; exact to about 10 ms. */
  readonly cpuMs: number;
  /** Greatest resident memory at one time, bytes; 0 when the step ended before the first measurement. */
  readonly maxRssBytes: number;
}
