/** What a step has used up, as its agent has seen it. */
export interface ResourceUsage {
  /** Time on processors of all its processes together, user and system, milliseconds; about 10 ms exact. */
  readonly cpuMs: number;
  /** The most memory that was resident at a time, bytes; 0 when the step was over before anybody looked. */
  readonly maxRssBytes: number;
}
